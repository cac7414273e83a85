package main

import (
	"errors"

	"kith/cmd/internal/serve"
	"kith/db"
	"kith/query/web"
)

// orAttached returns the error of opening or using the database at path. If another process has the
// database open and is a server that answers at its socket, orAttached asks the server instead, and
// closes the client.
func orAttached(path string, err error, ask func(*web.Client) error) error {
	if !errors.Is(err, db.ErrLocked) {
		return err
	}
	client, failed := serve.Attach(path)
	if failed != nil {
		return err
	}
	defer client.Close()
	return ask(client)
}
