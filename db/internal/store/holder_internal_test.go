package store

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// A lock file names a process that lives, and none if it is left over or not whole.
func TestHolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("nobody can read a lock file there")
	}
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	this := thisProcess()
	parent, dead, far := this, this, this
	parent.id, parent.program = os.Getppid(), "x\ny"
	dead.id = gone.Process.Pid
	far.id, far.host = 1<<30, "far"
	for _, c := range []struct {
		content string
		want    string // "": none
	}{
		{string(this.marshal()), "this process"},
		{string(parent.marshal()), "process " + strconv.Itoa(parent.id) + " (x y)"},
		{string(far.marshal()), "process 1073741824 (" + this.program + ") of machine far"},
		{string(holder{id: os.Getppid(), host: this.host}.marshal()), "process " + strconv.Itoa(parent.id)},
		{string(dead.marshal()), ""},
		{"", ""},
		{strconv.Itoa(parent.id), ""},
		{strconv.Itoa(parent.id) + "\nkith\n" + this.host, ""},
		{"-1\nkith\n" + this.host + "\n", ""},
		{"0\nkith\n" + this.host + "\n", ""},
		{"x\nkith\n" + this.host + "\n", ""},
	} {
		h, ok := holderOf([]byte(c.content))
		if ok != (c.want != "") || ok && h.String() != c.want {
			t.Errorf("%q: got %v, %t, want %q", c.content, h, ok, c.want)
		}
	}
}
