package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kith/cmd/kith/internal/shell"
)

// tty describes a pseudo-terminal.
type tty struct {
	rows, cols int
	delay      time.Duration // delay of the answer to a query for the position of the cursor
}

var ordinary = tty{rows: 24, cols: 100}

// terminal is a pseudo-terminal with a process attached.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	delay  time.Duration

	mu     sync.Mutex // guards shown, seen and screen
	shown  bytes.Buffer
	seen   int // end of the text that expect has found so far
	screen *screen
	more   chan struct{}
	closed chan struct{}
}

// openTerminal runs the tool on a pseudo-terminal.
func openTerminal(t *testing.T, like tty, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(like.rows), Col: uint16(like.cols)}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("kith", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	term := &terminal{
		t: t, master: master, cmd: cmd, delay: like.delay,
		screen: newScreen(like.rows, like.cols), more: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	go term.read()
	t.Cleanup(func() {
		cmd.Process.Kill()
		master.Close()
		<-term.closed
	})
	return term
}

// read displays the output of the process, and answers its queries for the position of the cursor.
func (term *terminal) read() {
	defer close(term.closed)
	b := make([]byte, 4096)
	for {
		n, err := term.master.Read(b)
		term.mu.Lock()
		term.shown.Write(b[:n])
		questions := term.screen.write(b[:n])
		position := fmt.Sprintf("\x1b[%d;%dR", term.screen.row+1, min(term.screen.col, len(term.screen.cells[0])-1)+1)
		term.mu.Unlock()
		if questions > 0 {
			answer := strings.Repeat(position, questions)
			time.AfterFunc(term.delay, func() { term.master.WriteString(answer) }) // fails once the terminal is closed
		}
		select {
		case term.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (term *terminal) send(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// expect waits for text to appear after the text expected before.
func (term *terminal) expect(text string) {
	term.t.Helper()
	late := time.After(20 * time.Second)
	for {
		term.mu.Lock()
		rest := term.shown.String()[term.seen:]
		at := strings.Index(rest, text)
		if at >= 0 {
			term.seen += at + len(text)
		}
		term.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-term.more:
		case <-late:
			term.t.Fatalf("%q was not shown; shown was %q", text, rest)
		}
	}
}

// shows waits until the screen satisfies a condition.
func (term *terminal) shows(what string, holds func(*screen) bool) {
	term.t.Helper()
	late := time.After(20 * time.Second)
	for {
		term.mu.Lock()
		held, text := holds(term.screen), term.screen.String()
		term.mu.Unlock()
		if held {
			return
		}
		select {
		case <-term.more:
		case <-late:
			term.t.Fatalf("%s: the screen is\n%s", what, text)
		}
	}
}

// showCursor is the sequence that readline writes after drawing.
const showCursor = "\x1b[?25h"

// ready waits for the prompt.
func (term *terminal) ready() {
	term.t.Helper()
	term.expect(shell.Prompt)
	term.expect(showCursor)
}

// exit waits for the end of the process.
func (term *terminal) exit() int {
	term.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		term.cmd.Wait()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		term.t.Fatal("the process does not end")
	}
	return term.cmd.ProcessState.ExitCode()
}

func TestTerminal(t *testing.T) {
	state := t.TempDir()
	path := filepath.Join(t.TempDir(), "g.kith")
	term := openTerminal(t, ordinary, []string{"XDG_STATE_HOME=" + state, "TERM=xterm", "INPUTRC=/dev/null"}, "shell", "--create", path)
	term.expect("kith, " + path + ": 0 nodes, 0 edges, 0 models.")
	term.ready()

	// A statement goes on until its semicolon; rows are a table, with their number and the time.
	term.send("INSERT EDGES 1 -> 2,\r1 -> 3;\r")
	term.expect("edges_added")
	term.expect("1 row (")

	// Tab completes in the case of the word.
	term.ready()
	term.send("neighbo\t")
	term.expect("neighbors")
	term.expect(showCursor)
	term.send("of 1;\r")
	term.expect("2 rows (")

	// Errors do not end the session; neither does Ctrl-C, at the prompt or in a statement.
	term.ready()
	term.send("PREDICT LINKS FOR alice;\r")
	term.expect("kith: 1:19: found alice")
	term.expect("                  ^")
	term.ready()
	term.send("SHOW STA")
	term.expect("STA")
	term.expect(showCursor)
	term.send("\x03")
	term.ready()
	term.send("CREATE MODEL m USING prb; TRAIN MODEL m WITH (epochs = 1000000);\r")
	term.expect("learning, about ")
	term.expect(" left")
	term.send("\x03")
	term.expect("kith: interrupted")
	term.ready()
	term.send("SHOW MODELS;\r")
	term.expect("1 row (")

	term.ready()
	term.send("\x04")
	if code := term.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkHistory(t, filepath.Join(state, "kith", "history"))
}

// checkHistory checks that the history exists and only the owner may read it.
func checkHistory(t *testing.T, file string) {
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the history has mode %v", info.Mode())
	}
	b, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(b, []byte("neighbors of 1;")) {
		t.Errorf("the history is %q, error %v", b, err)
	}
}

// enter types a line in a terminal without colours.
func (term *terminal) enter(line string) {
	term.t.Helper()
	term.send(line)
	term.expect(line)
	term.expect(showCursor)
	term.send("\r")
	term.expect("\x1b[0 q") // the end of the edited line
}

// openSession opens a shell on a terminal, on a database with a few nodes and a model.
func openSession(t *testing.T, like tty, env ...string) *terminal {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.kith")
	run := exec.Command("kith", "shell", "--create", path,
		"-c", "INSERT NODE 'a node with a name that is long' LABEL thing; INSERT EDGES 1 -> 'a node with a name that is long', 1 -> 2;",
		"-c", "CREATE MODEL friends USING prb;")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	term := openTerminal(t, like, append([]string{"XDG_STATE_HOME=" + t.TempDir(), "TERM=xterm", "INPUTRC=/dev/null"}, env...), "shell", path)
	term.ready()
	return term
}

func TestTerminalColours(t *testing.T) {
	term := openSession(t, ordinary)
	term.send("SHOW MODELS;")
	const cyan = "\x1b[36m"
	term.expect(cyan + "MODELS\x1b[0m;")
	term.expect(showCursor)
	term.send("\r")
	term.expect("\x1b[1m version") // column names are bold
	term.ready()

	term = openSession(t, ordinary, "NO_COLOR=1")
	term.send("NODES;")
	term.expect("NODES;")
	term.expect(showCursor)
	term.send("\r")
	term.expect("3 rows (")
	term.ready()
	term.mu.Lock()
	defer term.mu.Unlock()
	if shown := term.shown.String(); strings.Contains(shown, cyan) || strings.Contains(shown, "\x1b[1m") {
		t.Errorf("there are colours: %q", shown)
	}
}

func TestTerminalWidth(t *testing.T) {
	term := openSession(t, tty{rows: 24, cols: 40}, "NO_COLOR=1")
	term.enter("NODES;")
	term.expect("'a node with a nam…│thing│")
	term.ready()
	term.enter(".mode line")
	term.ready()
	term.enter("NODES;")
	term.expect("node = 'a node with a name that is long'")
}

// TestTerminalCompletes checks that Tab completes the names in the database, and that a statement
// can continue on the next line.
func TestTerminalCompletes(t *testing.T) {
	term := openSession(t, ordinary, "NO_COLOR=1")
	term.send("describe model f\t")
	term.expect("friends")
	term.expect(showCursor)
	term.send(";\r")
	term.expect("policy")
	term.ready()
	term.send("DESCRIBE\r")
	term.expect("  ... ")
	term.expect(showCursor)
	term.send("NODE 'a n\t")
	term.expect("'a node with a name that is long'")
	term.expect(showCursor)
	term.send(";\r")
	term.expect("thing")
	term.ready()
	term.send("\x1b[A") // recall the statement from the history
	term.expect("DESCRIBE")
	term.expect("NODE 'a node with a name that is long'")
	term.expect(showCursor)
	term.send("\r")
	term.expect("thing")
	term.ready()
	term.enter("BEGIN;")
	term.expect("kith*> ")
	term.expect(showCursor)
	term.enter("exit")
	term.expect("kith: the transaction that was open has been rolled back")
	if code := term.exit(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestTerminalWatch(t *testing.T) {
	term := openSession(t, ordinary)
	term.send(".watch 0.1 SHOW MODELS;\r")
	for range 2 {
		term.expect("\x1b[H\x1b[2Jevery 100ms: SHOW MODELS;")
		term.expect("friends")
		term.expect("1 row (")
	}
	term.send("\x03")
	term.ready()
	term.send("NODES TOP 1;\r")
	term.expect("1 row (")
	term.ready()
	term.send(".watch 1 SHOW MODLES;\r")
	term.expect("kith: 1:15: found MODLES, expected ")
}

// TestTerminalTerminated checks that SIGTERM closes the database and restores the terminal.
func TestTerminalTerminated(t *testing.T) {
	term := openSession(t, ordinary)
	before, err := unix.IoctlGetTermios(int(term.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if before.Lflag&unix.ICANON != 0 {
		t.Error("the line is not edited")
	}
	if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := term.exit(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	term.expect("kith: interrupted")
	after, err := unix.IoctlGetTermios(int(term.master.Fd()), unix.TCGETS)
	if err != nil || after.Lflag&unix.ICANON == 0 {
		t.Errorf("the terminal is left raw, error %v", err)
	}
	if out, err := exec.Command("kith", "shell", "--read-only", term.cmd.Args[len(term.cmd.Args)-1], "-c", "NODES TOP 1;").CombinedOutput(); err != nil {
		t.Errorf("the database was not closed: %v: %s", err, out)
	}
}

func TestDumbTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.kith")
	term := openTerminal(t, ordinary, []string{"TERM=dumb"}, "shell", "--create", path)
	term.expect(shell.Prompt)
	term.send("INSERT EDGES\n")
	term.expect("  ... ")
	term.send("1 -> 2;\n")
	term.expect("1 row (")
	term.expect(shell.Prompt)
	term.send(".quit\n")
	if code := term.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
