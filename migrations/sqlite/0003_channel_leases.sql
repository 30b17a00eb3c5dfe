-- Which process receives for a channel that allows one consumer only.
create table channel_leases (
  channel text primary key,
  owner text not null,
  lease_until integer not null
) strict;
