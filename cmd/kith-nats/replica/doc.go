// Package replica ships the changes of a kith database through NATS JetStream, and keeps copies
// that follow it.
//
// [Publish] writes the changes of a database to its log: a stream of JetStream, and an object store
// with snapshots. A [Follower] makes a copy from the newest snapshot, applies the changes that come
// after it, and is read as any database. The command kith-nats does both; see its documentation for
// guarantees, failures and limits.
package replica
