package serve

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/query/web"
)

// Flags are the flags of a command that serves a database.
type Flags struct {
	Listen    string // address
	Write     bool   // requests that have the token may write
	web       web.Options
	tokenFile string
}

// Add adds the flags --listen, with a default, --write, --token-file and --token-for-reads to a
// command.
func (s *Flags) Add(cmd *cobra.Command, listen string) {
	f := cmd.Flags()
	f.StringVar(&s.Listen, "listen", listen, "address to listen at; port 0 means any free port")
	f.BoolVar(&s.Write, "write", false, "allow requests that have the token to change the database")
	f.StringVar(&s.tokenFile, "token-file", "", "file of the token; its mode must be 0600")
	f.BoolVar(&s.web.TokenForReads, "token-for-reads", false, "require the token also for reading")
	cli.Synonyms(cmd, "listen", "addr", "address", "bind", "host", "port", "http")
	cli.Synonyms(cmd, "token-file", "token", "auth", "password")
}

// Check returns an error if the flags contradict each other.
func (s *Flags) Check() error {
	switch {
	case s.tokenFile == "" && (s.Write || s.web.TokenForReads):
		return fmt.Errorf("--write and --token-for-reads need --token-file; %s makes one", MakeToken)
	case s.tokenFile != "" && !s.Write && !s.web.TokenForReads:
		return errors.New("--token-file needs --write, --token-for-reads or both")
	}
	return nil
}

// Options returns the options of a handler, with the token.
func (s *Flags) Options() (web.Options, error) {
	o := s.web
	if s.tokenFile == "" {
		return o, nil
	}
	var err error
	o.Token, err = ReadToken(s.tokenFile)
	return o, err
}
