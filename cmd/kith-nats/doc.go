// Kith-nats replicates kith databases to other machines through NATS JetStream.
//
//	kith-nats publish social.kith --nats nats://log:4222 --listen 127.0.0.1:7331 --write --token-file token
//	kith-nats follow copy.kith --nats nats://log:4222 --listen 127.0.0.1:7331
//
// Package kith/cmd/kith-nats/replica does the same for programs that embed kith.
package main
