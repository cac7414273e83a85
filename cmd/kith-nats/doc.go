// Kith-nats replicates kith databases to other machines through NATS JetStream, a replicated log.
//
//	kith-nats publish social.kith --nats nats://log:4222 --listen 127.0.0.1:7331 --write --token-file token
//	kith-nats follow copy.kith --nats nats://log:4222 --listen 127.0.0.1:7331
//
// One process opens the database for writing and publishes each commit. Any number of others keep a
// copy each, apply the commits, and answer what only reads. All of them answer over HTTP as kith
// serve does; the page, /stats, /metrics and SHOW STATS of a follower say that it is one, and how
// many versions it is behind as far as it knows. Package kith/cmd/kith-nats/replica does the same
// for programs that embed kith.
//
// # Three machines
//
// With the log server on one machine, started by
//
//	nats-server --jetstream --store_dir /var/lib/nats
//
// the two commands above run on the other two. For a log that survives the loss of a machine, run
// nats-server on all three as a cluster (docs.nats.io, "JetStream clustering"), give publish
// --replicas 3, and name all servers:
//
//	kith-nats publish social.kith --nats nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3
//
// Servers that are not on a trusted network need TLS (URLs tls://) and users (--creds). A user who
// may write to the log may change the copies, and one who may read it may read the database.
//
// When the machine of the publisher is lost, stop the follower that has the highest version and
// publish its copy:
//
//	kith-nats publish copy.kith --nats nats://log:4222
//
// It is refused if the log has changes that the copy lacks; run follow until it has them.
//
// # The log
//
// A database has a stream KITH_ID, where ID is its identity, and an object store kith_ID with
// snapshots. A message has the commits that were there when it was sent, up to 512 KB, or a part of
// a larger one. Its headers say which versions it has, and a checksum over the history of the
// database before and after them. Each message also states the sequence of the message before it,
// and the server refuses it if another one is last. So the messages are in the order of the
// commits, without gaps and repetitions, whatever is lost between publisher and server. After any
// error the publisher reads the last message and continues behind it.
//
// The place of a follower in the log is the version of its copy. It finds the message with the next
// version by a binary search over the headers. Commits that come at the same time are applied
// together and share a sync.
//
// The stream keeps --stream-bytes; the oldest changes fall off. After --snapshot-bytes of changes
// the publisher puts a backup into the object store, which keeps the last two, and a third while it
// is written. It waits with publishing if the stream could lose a change that comes after the
// newest snapshot. A follower that lacks a change that has fallen off restores the newest snapshot
// beside its copy, and answers from the old copy meanwhile. Then it exchanges the two by renaming
// them; requests wait while it opens the new one. A load (kith load, LOAD EDGES, DB.Load) is no
// change that can be followed, so after a load all followers restore a snapshot.
//
// # Guarantees
//
//   - A commit that returned at the publisher reaches every follower, once, also if publisher,
//     followers and log server are killed at any time. It is published within --change-bytes of
//     changes; beyond, followers begin again with a snapshot.
//   - At the same version a follower gives the same answers with cache = off, byte for byte, if
//     binary, architecture and --memory are the same.
//   - A follower is behind by the time of two syncs and a message. It never shows a part of a
//     commit, and no version that the publisher has not made durable.
//   - Copies and snapshots are made whole or not at all.
//
// Replication is asynchronous. A commit that returned is lost with the publisher's disk if it was
// not yet published. A log server that loses power may lose messages that it has confirmed but not
// synced (sync_interval of nats-server, two minutes); the publisher notices and publishes them
// again, as long as it keeps the changes.
//
// # Failures
//
//   - The log server is away: publisher and followers go on without it, try again without end and
//     log that. At the start it is an error.
//   - The log was deleted: the publisher makes it again, with a snapshot.
//   - Two publishers of one database: the first ends with an error when it sees messages of the
//     second. A database that is an older copy, or that went another way than the log, is refused.
//     To publish it nevertheless, delete the stream and the object store with the nats tool; the
//     followers then restore its snapshot.
//   - A damaged message, or a change that makes something else in the copy, as another version of
//     kith could: the follower restores the newest snapshot. If it meets the change again it ends
//     with an error that names the message. Update the followers to the publisher's version of
//     kith, and delete their copies if that does not help.
//   - A damaged snapshot: the one before is restored. Without any the follower waits, and says so.
//   - DIR holds something else, or a copy of a different database: an error, and nothing is
//     changed.
//
// # Limits
//
// A change may take half of --stream-bytes, and a follower holds it in memory. A follower that
// restores a snapshot needs room on its disk for two copies. A restart of a follower opens its
// copy, which for a large graph takes as long as kith serve does. The server's max_payload must be
// at least 5 KB. Followers pass on nothing; each reads the log.
//
// # Figures
//
// On a quiet machine of 2 cores, with publisher, NATS server 2.15.2 and follower in one process,
// the lag is the time from a commit being durable at the publisher to being durable at the
// follower, at 1,000 edges a second for 5 s (go test ./replica -run Lag -v -long):
//
//	edges of a commit   lag p50   p99      max
//	                1   0.7 ms     2.0 ms   21 ms
//	               10   0.9 ms     8.6 ms   29 ms
//	              100   1.5 ms     9.6 ms   25 ms
//
// 100 kills by signal 9 (33 of the log server, 34 of the publisher, 33 of the follower) during a
// random history of 6,172 versions with loads, models and changes of several messages left no
// difference between database, follower and a new copy (go test ./replica -run Kill -v -long -times
// 4). A log with three replicas went on when the server that led it was stopped (-run Cluster).
package main
