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

// Add adds the flags --listen, with a default, --write, --token-file, --token-for-reads and
// --allow-origin to a command.
func (s *Flags) Add(cmd *cobra.Command, listen string) {
	f := cmd.Flags()
	f.StringVar(&s.Listen, "listen", listen, "address to listen at; port 0 means any free port")
	f.BoolVar(&s.Write, "write", false, "allow requests that have the token to change the database")
	f.StringVar(&s.tokenFile, "token-file", "", "file of the token; its mode must be 0600")
	f.BoolVar(&s.web.TokenForReads, "token-for-reads", false, "require the token also for reading")
	f.StringArrayVar(&s.web.Origins, "allow-origin", nil, "`origin` of pages that may send requests, such as https://app.example; may be repeated")
	cli.Synonyms(cmd, "listen", "addr", "address", "bind", "host", "port", "http")
	cli.Synonyms(cmd, "token-file", "token", "auth", "password")
	cli.Synonyms(cmd, "allow-origin", "origin", "cors")
}

// Check returns an error if the flags contradict each other, or for an origin that is none.
func (s *Flags) Check() error {
	for _, origin := range s.web.Origins {
		if err := web.CheckOrigin(origin); err != nil {
			return fmt.Errorf("--allow-origin: %w", err)
		}
	}
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
