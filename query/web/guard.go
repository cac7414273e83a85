package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// errToken is the error of a request without the token, or with another one. It does not say which.
var errToken = errors.New("this needs the token of the server, as Authorization: Bearer TOKEN")

// admit refuses a request that may not have an answer of a route. It returns the status of the
// refusal.
func (h *handler) admit(r *http.Request, to *route) (status int, err error) {
	if err := h.authorize(r); err != nil {
		return http.StatusForbidden, err
	}
	if err := foreign(r, to); err != nil {
		return http.StatusForbidden, err
	}
	if given, right := h.token(r); (given || h.TokenForReads) && !right && (to == nil || !to.open) {
		return http.StatusUnauthorized, errToken
	}
	if to != nil && to.request == nil && r.ContentLength != 0 {
		return http.StatusBadRequest, errors.New("a request to this path has no body")
	}
	return 0, nil
}

// authorize returns an error for a request from another machine, or for one addressed to an unknown
// host.
func (h *handler) authorize(r *http.Request) error {
	if !h.Remote && !local(r.RemoteAddr) {
		return fmt.Errorf("%s is another machine: only this one may ask (see Options.Remote)", r.RemoteAddr)
	}
	if !h.known(r.Host) {
		return fmt.Errorf("host %q is not known here (see Options.Hosts)", r.Host)
	}
	return nil
}

// local reports whether the address of a peer is on this machine: a loopback address or a
// Unix socket.
func local(peer string) bool {
	if peer == "" || peer == "@" || strings.HasPrefix(peer, "/") {
		return true
	}
	at, err := netip.ParseAddrPort(peer)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// known reports whether a Host header names an address, localhost, or one of Hosts.
func (h *handler) known(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(h.Hosts, func(known string) bool { return known == "*" || strings.EqualFold(known, name) })
}

// foreign returns an error for a request from a page with a foreign origin, with any method and
// content. Following a link of such a page to an open route is allowed, because that page does not
// see the answer.
func foreign(r *http.Request, to *route) error {
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) || u.Host == "" {
			return fmt.Errorf("the origin %q is not this server", origin)
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		follows := to != nil && to.open && r.Header.Get("Sec-Fetch-Mode") == "navigate"
		if site != "same-origin" && site != "none" && !follows {
			return fmt.Errorf("the request comes from a page that is not of this server (Sec-Fetch-Site: %s)", site)
		}
	}
	return nil
}

// token reports whether a request has a token, and whether that is the handler's. The time that it
// takes does not depend on how much of a token is right. A handler without a token ignores tokens.
func (h *handler) token(r *http.Request) (given, right bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if h.Token == "" || !strings.EqualFold(scheme, "Bearer") {
		return false, false
	}
	want, got := sha256.Sum256([]byte(h.Token)), sha256.Sum256([]byte(strings.TrimSpace(token)))
	return true, subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
