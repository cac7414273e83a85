package replica_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"kith/cmd/kith-nats/replica"
)

// cluster starts three NATS servers that form a cluster.
func cluster(t *testing.T) (all []*server.Server) {
	t.Helper()
	var routes []*url.URL
	var ports []string
	for range 3 {
		ports = append(ports, freePort(t))
		u, err := url.Parse("nats://127.0.0.1:" + ports[len(ports)-1])
		must(t, err)
		routes = append(routes, u)
	}
	for i := range 3 {
		o := serverOptions(t.TempDir())
		o.ServerName, o.Routes = fmt.Sprint("s", i), routes
		o.Cluster = server.ClusterOpts{Name: "c", Host: "127.0.0.1"}
		_, err := fmt.Sscan(ports[i], &o.Cluster.Port)
		must(t, err)
		s, err := server.NewServer(o)
		must(t, err)
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		all = append(all, s)
	}
	for _, s := range all {
		if !s.ReadyForConnections(limit) {
			t.Fatal("a NATS server does not start")
		}
	}
	return all
}

// A log with three replicas survives the loss of the server that leads it.
func TestCluster(t *testing.T) {
	if !*long {
		t.Skip("-long runs it")
	}
	servers := cluster(t)
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.ClientURL())
	}
	c, err := nats.Connect(strings.Join(urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	must(t, err)
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	must(t, err)
	wait(t, "a cluster", func() error { _, err := js.AccountInfo(t.Context()); return err })
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	o := replica.Options{Replicas: 3, MessageBytes: 4 << 10}
	var f *replica.Follower
	wait(t, "a log with three replicas", func() error {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ready", Replicas: 3})
		return err
	})
	stop := publish(t, g, js, o)
	f, _ = follow(t, filepath.Join(t.TempDir(), "copy"), js)
	arrives(t, f, g)
	stop()
	publish(t, g, js, replica.Options{MessageBytes: 4 << 10}) // the number of replicas remains
	h.steps(t, g, 60)
	arrives(t, f, g)
	stream, err := js.Stream(t.Context(), streamName(t, g))
	must(t, err)
	if n := stream.CachedInfo().Config.Replicas; n != 3 {
		t.Errorf("%d replicas", n)
	}
	leader := stream.CachedInfo().Cluster.Leader
	for _, s := range servers {
		if s.Name() == leader {
			s.Shutdown()
		}
	}
	h.steps(t, g, 60)
	arrives(t, f, g)
	t.Logf("%s led; version %d", leader, version(t, g))
}
