create table people (
  id text primary key,
  name text not null,
  language text,
  created_at integer not null
) strict, without rowid;

create table accounts (
  channel text not null,
  user_id text not null,
  person_id text not null references people(id),
  name text not null,
  admin integer not null default 0,
  paired_at integer,
  paired_by text,
  limited_notice_at integer not null default 0,
  direct_chat text,
  created_at integer not null,
  primary key (channel, user_id)
) strict, without rowid;
create index accounts_admin on accounts (admin) where admin = 1;

create table pairings (
  channel text not null,
  user_id text not null,
  name text not null,
  chat text not null,
  code_hash text not null unique,
  created_at integer not null,
  expires_at integer not null,
  primary key (channel, user_id)
) strict, without rowid;

create table claims (
  id integer primary key check (id = 1),
  code_hash text not null,
  tries integer not null,
  expires_at integer not null
) strict;

create table sessions (
  token_hash text primary key,
  channel text not null,
  user_id text not null,
  name text not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;

create table sign_in_links (
  code_hash text primary key,
  channel text not null,
  user_id text not null,
  name text not null,
  owner integer not null,
  expires_at integer not null
) strict, without rowid;

create table audit (
  id text primary key,
  at integer not null,
  actor text not null,
  action text not null,
  subject text not null,
  before text,
  after text
) strict, without rowid;

create table chats (
  channel text not null,
  chat text not null,
  admitted_by text,
  admission_notice_at integer,
  added_by text,
  created_at integer not null,
  primary key (channel, chat)
) strict, without rowid;

create table threads (
  channel text not null,
  chat text not null,
  thread text not null,
  joined_at integer not null,
  primary key (channel, chat, thread)
) strict, without rowid;

create table channel_state (
  channel text not null,
  key text not null,
  value text not null,
  primary key (channel, key)
) strict, without rowid;

create table journal (
  seq integer primary key autoincrement,
  channel text not null,
  chat text not null,
  key text not null,
  body text not null,
  created_at integer not null,
  unique (channel, chat, key)
) strict;
create index journal_chat on journal (channel, chat, seq);

create table agents (
  id text not null,
  version integer not null,
  spec text not null,
  spec_hash text not null,
  created_at integer not null,
  primary key (id, version)
) strict, without rowid;

-- One row a conversation; `key` is binding, scope and audience. Open = the one new messages go to.
create table conversations (
  id text primary key,
  key text not null,
  open integer not null,
  binding text not null,
  channel text not null,
  chat text not null,
  audience text not null,
  turns integer not null default 0,
  summary text,
  summary_until integer not null default 0,
  notice_at integer,
  mode text,
  created_at integer not null
) strict, without rowid;
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
  not_before integer not null default 0,
  payload text,
  received_at integer not null,
  unique (channel, key)
) strict, without rowid;
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
  claims integer not null default 0,
  agent text not null,
  agent_version integer not null,
  binding text not null,
  channel text not null,
  chat text not null,
  thread text,
  reply_to text,
  user_id text not null,
  stop_requested text,
  resume_at integer,
  -- Of the conversation when the run was parked first: it goes on with the history it began with.
  history_turns integer,
  active_ms integer not null default 0,
  error text,
  owner text,
  lease_until integer,
  created_at integer not null,
  finished_at integer
) strict, without rowid;
create unique index runs_active on runs (conversation_id) where state in ('queued', 'running');
create index runs_conversation on runs (conversation_id);
-- Parked ones that are decided go on when their lane is free, before what waits there.
create index runs_resumable on runs (resume_at, conversation_id) where state = 'awaiting_approval' and resume_at is not null;
create index runs_parked on runs (conversation_id) where state = 'awaiting_approval';
create index runs_open on runs (id) where state in ('queued', 'running');

-- What the run's transcript consists of, in order; `seq` 0 is the opening user message.
create table steps (
  run_id text not null references runs(id),
  seq integer not null,
  kind text not null,
  body text not null,
  created_at integer not null,
  primary key (run_id, seq)
) strict, without rowid;

create table tool_calls (
  run_id text not null references runs(id),
  step integer not null,
  call_id text not null,
  position integer not null,
  name text not null,
  capability text,
  tool text,
  input text not null,
  state text not null,
  verdict text,
  rule text,
  content text,
  is_error integer,
  started_at integer,
  finished_at integer,
  primary key (run_id, step, call_id)
) strict, without rowid;

-- The finished exchanges of a conversation, append-only.
create table turns (
  conversation_id text not null references conversations(id),
  seq integer not null,
  run_id text not null,
  role text not null,
  body text not null,
  created_at integer not null,
  primary key (conversation_id, seq)
) strict, without rowid;
create index turns_created on turns (created_at);

-- pending → sending → sent | failed; `posted_at` is the platform's own time; an `edit` waits for the message of its target row.
create table outbox (
  id text primary key,
  channel text not null,
  chat text not null,
  thread text,
  direct integer not null,
  kind text not null,
  target text,
  run_id text,
  reply_to text,
  body text not null,
  question text,
  priority integer not null,
  state text not null,
  unknown_sends integer not null default 0,
  attempts integer not null default 0,
  not_before integer not null default 0,
  owner text,
  lease_until integer,
  ref text,
  error text,
  created_at integer not null,
  sent_at integer,
  posted_at integer
) strict, without rowid;
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
  input_tokens integer not null,
  cached_input_tokens integer not null,
  output_tokens integer not null,
  cost_usd real,
  reserved_usd real not null default 0,
  settled integer not null,
  created_at integer not null
) strict, without rowid;
create index ledger_run on ledger (run_id);
create index ledger_day on ledger (agent, created_at);
create index ledger_binding on ledger (binding, created_at);

create table stored_values (
  agent text not null,
  owner text not null,
  key text not null,
  value text not null,
  updated_at integer not null,
  primary key (agent, owner, key)
) strict, without rowid;

-- Ids that chats had before the platform gave them new ones: a configuration that lists one still means the chat.
create table former_chats (
  channel text not null,
  former text not null,
  chat text not null,
  primary key (channel, former)
) strict, without rowid;

create index former_chats_by_chat on former_chats (channel, chat);

-- Which process receives for a channel that allows one consumer only.
create table channel_leases (
  channel text primary key,
  owner text not null,
  lease_until integer not null
) strict, without rowid;

-- A question: whether one exact tool call may run, or something the agent asks its person. `batch` is what one step
-- asked together; `requester` and everything below `state` are people's. pending → approved | denied | expired | withdrawn.
create table approvals (
  id text primary key,
  batch text not null,
  position integer not null,
  -- Of a run, or of a row in skill_calls (step -1).
  run_id text not null,
  step integer not null,
  call_id text not null,
  kind text not null,
  agent text not null,
  binding text not null,
  channel text not null,
  chat text not null,
  thread text,
  direct integer not null,
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
  dual integer not null,
  grantable text,
  shown_to text not null,
  code text not null,
  state text not null,
  decided_by text,
  decided_at integer,
  reason text,
  answer text,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
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
  admin integer not null,
  signed_at integer not null,
  primary key (approval_id, person_id)
) strict, without rowid;

-- One message that shows a batch; its buttons carry this id. `ref` is bound by the first authentic press where that
-- comes before the result of the send.
create table cards (
  id text primary key,
  batch text not null,
  channel text not null,
  chat text not null,
  thread text,
  direct integer not null,
  outbox_id text not null,
  ref text,
  created_at integer not null
) strict, without rowid;
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
  set_at integer not null,
  primary key (scope, capability, tool)
) strict, without rowid;

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
  set_at integer not null
) strict, without rowid;
create index grants_person on grants (person_id, agent);

create table tokens (
  id text primary key,
  token_hash text not null unique,
  channel text not null,
  user_id text not null,
  label text not null,
  created_at integer not null,
  expires_at integer,
  last_used_at integer
) strict, without rowid;

-- People whose accounts were linked share a group. A row stays after an unlink, for the 72 hours of rule 15.
create table links (
  person_id text primary key references people(id),
  group_id text not null,
  linked_at integer not null,
  unlinked_at integer
) strict, without rowid;
create index links_group on links (group_id);

create table link_codes (
  code_hash text primary key,
  channel text not null,
  user_id text not null,
  other_channel text,
  other_user_id text,
  confirmed integer not null default 0,
  other_confirmed integer not null default 0,
  expires_at integer not null
) strict, without rowid;
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
  is_error integer,
  created_at integer not null,
  started_at integer,
  finished_at integer
) strict, without rowid;
create index skill_calls_open on skill_calls (id) where state in ('asked', 'started');
