create table people (
  id text primary key,
  name text not null,
  language text,
  created_at bigint not null
);

create table accounts (
  channel text not null,
  user_id text not null,
  person_id text not null references people(id),
  name text not null,
  admin bigint not null default 0,
  paired_at bigint,
  paired_by text,
  limited_notice_at bigint not null default 0,
  direct_chat text,
  created_at bigint not null,
  primary key (channel, user_id)
);
create index accounts_admin on accounts (admin) where admin = 1;

create table pairings (
  channel text not null,
  user_id text not null,
  name text not null,
  chat text not null,
  code_hash text not null unique,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (channel, user_id)
);

create table claims (
  id bigint primary key check (id = 1),
  code_hash text not null,
  tries bigint not null,
  expires_at bigint not null
);

create table sessions (
  token_hash text primary key,
  channel text not null,
  user_id text not null,
  name text not null,
  created_at bigint not null,
  expires_at bigint not null
);

create table sign_in_links (
  code_hash text primary key,
  channel text not null,
  user_id text not null,
  name text not null,
  owner bigint not null,
  expires_at bigint not null
);

create table audit (
  id text primary key,
  at bigint not null,
  actor text not null,
  action text not null,
  subject text not null,
  before text,
  after text
);

create table chats (
  channel text not null,
  chat text not null,
  admitted_by text,
  admission_notice_at bigint,
  added_by text,
  created_at bigint not null,
  primary key (channel, chat)
);

create table threads (
  channel text not null,
  chat text not null,
  thread text not null,
  joined_at bigint not null,
  primary key (channel, chat, thread)
);

create table channel_state (
  channel text not null,
  key text not null,
  value text not null,
  primary key (channel, key)
);

create table journal (
  seq bigint generated always as identity primary key,
  channel text not null,
  chat text not null,
  key text not null,
  body text not null,
  created_at bigint not null,
  unique (channel, chat, key)
);
create index journal_chat on journal (channel, chat, seq);

create table agents (
  id text not null,
  version bigint not null,
  spec text not null,
  spec_hash text not null,
  created_at bigint not null,
  primary key (id, version)
);

-- One row a conversation; `key` is binding, scope and audience. Open = the one new messages go to.
create table conversations (
  id text primary key,
  key text not null,
  open bigint not null,
  binding text not null,
  channel text not null,
  chat text not null,
  audience text not null,
  turns bigint not null default 0,
  summary text,
  summary_until bigint not null default 0,
  notice_at bigint,
  mode text,
  created_at bigint not null
);
create unique index conversations_open on conversations (key) where open = 1;
create index conversations_keys on conversations (key);
create index conversations_chat on conversations (channel, chat);

-- ignored | refused | handled (a command) | waiting → taken (by a run) → done. The key stays, the words go.
create table inbox (
  id text primary key,
  channel text not null,
  key text not null,
  kind text not null,
  chat text not null,
  thread text,
  message_id text,
  user_id text not null,
  state text not null,
  conversation_id text references conversations(id),
  run_id text,
  part_of text,
  not_before bigint not null default 0,
  payload text,
  received_at bigint not null,
  unique (channel, key)
);
create index inbox_waiting on inbox (conversation_id, id) where state = 'waiting';
-- The whole queue in order, whatever the size of the table.
create index inbox_ready on inbox (id, conversation_id, not_before) where state = 'waiting';
create index inbox_run on inbox (run_id) where run_id is not null;
-- For the row of the conversation, which goes with the last of its rows here.
create index inbox_conversation on inbox (conversation_id) where conversation_id is not null;
create index inbox_message on inbox (channel, chat, message_id);
create index inbox_account on inbox (channel, user_id, received_at);

create table runs (
  id text primary key,
  conversation_id text not null references conversations(id),
  state text not null,
  claims bigint not null default 0,
  agent text not null,
  agent_version bigint not null,
  binding text not null,
  channel text not null,
  chat text not null,
  thread text,
  reply_to text,
  user_id text not null,
  stop_requested text,
  resume_at bigint,
  -- Of the conversation when the run was parked first: it goes on with the history it began with.
  history_turns bigint,
  active_ms bigint not null default 0,
  error text,
  owner text,
  lease_until bigint,
  created_at bigint not null,
  finished_at bigint
);
create unique index runs_active on runs (conversation_id) where state in ('queued', 'running');
create index runs_conversation on runs (conversation_id);
-- Parked ones that are decided go on when their lane is free, before what waits there.
create index runs_resumable on runs (resume_at, conversation_id) where state = 'awaiting_approval' and resume_at is not null;
create index runs_parked on runs (conversation_id) where state = 'awaiting_approval';
create index runs_open on runs (id) where state in ('queued', 'running');

-- What the run's transcript consists of, in order; `seq` 0 is the opening user message.
create table steps (
  run_id text not null references runs(id),
  seq bigint not null,
  kind text not null,
  body text not null,
  created_at bigint not null,
  primary key (run_id, seq)
);

create table tool_calls (
  run_id text not null references runs(id),
  step bigint not null,
  call_id text not null,
  position bigint not null,
  name text not null,
  capability text,
  tool text,
  input text not null,
  state text not null,
  verdict text,
  rule text,
  content text,
  is_error bigint,
  started_at bigint,
  finished_at bigint,
  primary key (run_id, step, call_id)
);

-- The finished exchanges of a conversation, append-only.
create table turns (
  conversation_id text not null references conversations(id),
  seq bigint not null,
  run_id text not null,
  role text not null,
  body text not null,
  created_at bigint not null,
  primary key (conversation_id, seq)
);
create index turns_created on turns (created_at);

-- pending → sending → sent | failed; `posted_at` is the platform's own time; an `edit` waits for the message of its target row.
create table outbox (
  id text primary key,
  channel text not null,
  chat text not null,
  thread text,
  direct bigint not null,
  kind text not null,
  target text,
  run_id text,
  reply_to text,
  body text not null,
  question text,
  priority bigint not null,
  state text not null,
  unknown_sends bigint not null default 0,
  attempts bigint not null default 0,
  not_before bigint not null default 0,
  owner text,
  lease_until bigint,
  ref text,
  error text,
  created_at bigint not null,
  sent_at bigint,
  posted_at bigint
);
create index outbox_due on outbox (channel, chat, id) where state in ('pending', 'sending');
-- Cards that were given up, to be sent again while their question is open.
create index outbox_lost_cards on outbox (created_at) where state = 'failed' and question is not null;
create index outbox_run on outbox (run_id) where run_id is not null;

create table ledger (
  id text primary key,
  run_id text not null,
  agent text not null,
  binding text not null,
  profile text not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  cost_usd double precision,
  reserved_usd double precision not null default 0,
  settled bigint not null,
  created_at bigint not null
);
create index ledger_run on ledger (run_id);
create index ledger_day on ledger (agent, created_at);
create index ledger_binding on ledger (binding, created_at);

create table stored_values (
  agent text not null,
  owner text not null,
  key text not null,
  value text not null,
  updated_at bigint not null,
  primary key (agent, owner, key)
);

-- Ids that chats had before the platform gave them new ones: a configuration that lists one still means the chat.
create table former_chats (
  channel text not null,
  former text not null,
  chat text not null,
  primary key (channel, former)
);

create index former_chats_by_chat on former_chats (channel, chat);

-- Which process receives for a channel that allows one consumer only.
create table channel_leases (
  channel text primary key,
  owner text not null,
  lease_until bigint not null
);

-- A question: whether one exact tool call may run, or something the agent asks its person. `batch` is what one step
-- asked together; `requester` and everything below `state` are people's. pending → approved | denied | expired | withdrawn.
create table approvals (
  id text primary key,
  batch text not null,
  position bigint not null,
  -- Of a run, or of a row in skill_calls (step -1).
  run_id text not null,
  step bigint not null,
  call_id text not null,
  kind text not null,
  agent text not null,
  binding text not null,
  channel text not null,
  chat text not null,
  thread text,
  direct bigint not null,
  requester text,
  requester_account text not null,
  capability text not null,
  tool text not null,
  name text not null,
  definition text not null,
  digest text not null,
  arguments_digest text not null,
  input text not null,
  message text,
  options text,
  approvers text not null,
  dual bigint not null,
  grantable text,
  shown_to text not null,
  code text not null,
  state text not null,
  decided_by text,
  decided_at bigint,
  reason text,
  answer text,
  created_at bigint not null,
  expires_at bigint not null
);
create index approvals_batch on approvals (batch, position);
create index approvals_run on approvals (run_id, step);
create index approvals_pending on approvals (expires_at, id) where state = 'pending';
create index approvals_open_here on approvals (channel, chat) where state = 'pending';
create index approvals_code on approvals (channel, chat, code, created_at);
create index approvals_any_code on approvals (code);

-- Who has said yes so far; two rows where two people must (rule 57).
create table signatures (
  approval_id text not null references approvals(id),
  person_id text not null,
  account text not null,
  admin bigint not null,
  signed_at bigint not null,
  primary key (approval_id, person_id)
);

-- One message that shows a batch; its buttons carry this id. `ref` is bound by the first authentic press where that
-- comes before the result of the send.
create table cards (
  id text primary key,
  batch text not null,
  channel text not null,
  chat text not null,
  thread text,
  direct bigint not null,
  outbox_id text not null,
  ref text,
  created_at bigint not null
);
create index cards_batch on cards (batch);
create index cards_chat on cards (channel, chat);
create index cards_outbox on cards (outbox_id);

-- What admins and people say about tools while the gateway runs; `scope` is `admin` or the id of a person.
create table tool_rules (
  scope text not null,
  capability text not null,
  tool text not null,
  verdict text not null,
  set_by text not null,
  set_at bigint not null,
  primary key (scope, capability, tool)
);

-- "Always allow": until the definition changes; `arguments` is the digest of exactly these, null = any.
create table grants (
  id text primary key,
  person_id text not null,
  agent text not null,
  capability text not null,
  tool text not null,
  definition text not null,
  arguments text,
  set_by text not null,
  set_at bigint not null
);
create index grants_person on grants (person_id, agent);

create table tokens (
  id text primary key,
  token_hash text not null unique,
  channel text not null,
  user_id text not null,
  label text not null,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint
);

-- People whose accounts were linked share a group. A row stays after an unlink, for the 72 hours of rule 15.
create table links (
  person_id text primary key references people(id),
  group_id text not null,
  linked_at bigint not null,
  unlinked_at bigint
);
create index links_group on links (group_id);

create table link_codes (
  code_hash text primary key,
  channel text not null,
  user_id text not null,
  other_channel text,
  other_user_id text,
  confirmed bigint not null default 0,
  other_confirmed bigint not null default 0,
  expires_at bigint not null
);
create index link_codes_account on link_codes (channel, user_id);

-- Calls of skills by the API that people decide: asked → started → finished, once.
create table skill_calls (
  id text primary key,
  approval_id text not null unique,
  skill text not null,
  input text not null,
  channel text not null,
  user_id text not null,
  state text not null,
  content text,
  is_error bigint,
  created_at bigint not null,
  started_at bigint,
  finished_at bigint
);
create index skill_calls_open on skill_calls (id) where state in ('asked', 'started');
