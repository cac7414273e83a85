package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

// probe URL DURATION asks for an address for a time, and prints how long each answer took.
func probe() {
	lasts, err := time.ParseDuration(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		began := time.Now()
		r, err := http.Get(os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		if _, err = io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
			log.Fatal(r.Status, err)
		}
		r.Body.Close()
		fmt.Println(time.Since(began))
	}
}
