-- Ids that chats had before the platform gave them new ones: a configuration that lists one still means the chat.
create table former_chats (
  channel text not null,
  former text not null,
  chat text not null,
  primary key (channel, former)
) strict;

create index former_chats_by_chat on former_chats (channel, chat);
