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

	"kith/db"
)

// errToken is the error of a request without the token, or with another one. It does not say which.
var errToken = errors.New("this needs the token of the server, as Authorization: Bearer TOKEN")

// admit refuses a request that may not have an answer of a route. It returns the status of the
// refusal.
func (h *handler) admit(r *http.Request, to *route) (status int, err error) {
	if err := h.authorize(r); err != nil {
		return http.StatusForbidden, err
	}
	if err := h.foreign(r, to); err != nil {
		return http.StatusForbidden, err
	}
	open := to != nil && to.open || h.isPreflight(r) // a browser sends no token with a preflight request
	if given, right := h.token(r); (given || h.TokenForReads) && !right && !open {
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

// foreign returns an error for a request from a page with a foreign origin that is not in Origins,
// with any method and content. Following a link of such a page to an open route is allowed, because
// that page does not see the answer.
func (h *handler) foreign(r *http.Request, to *route) error {
	if h.shares(r) {
		return nil
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) || u.Host == "" {
			return fmt.Errorf("the origin %q is not this server (see Options.Origins)", origin)
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

// shares reports whether a request comes from a page whose origin is in Origins.
func (h *handler) shares(r *http.Request) bool {
	given := r.Header.Values("Origin")
	return len(given) == 1 && CheckOrigin(given[0]) == nil &&
		slices.ContainsFunc(h.Origins, func(known string) bool { return strings.EqualFold(known, given[0]) })
}

// isPreflight reports whether a request is one by which a browser asks, for a page whose origin is
// in Origins, whether it may send another one.
func (h *handler) isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" && h.shares(r)
}

// share sets the headers that let a page whose origin is in Origins read the answer. Caches must
// know that the answer depends on the origin.
func (h *handler) share(header http.Header, r *http.Request) {
	if len(h.Origins) == 0 {
		return
	}
	header.Add("Vary", "Origin")
	if h.shares(r) {
		header.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		header.Set("Access-Control-Expose-Headers", "Retry-After")
	}
}

// permit answers a preflight request for a route.
func permit(w http.ResponseWriter, to *route) {
	w.Header().Set("Access-Control-Allow-Methods", to.method)
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// CheckOrigin returns ErrInput for a text that is no origin as a browser sends it, such as
// https://app.example or http://localhost:3000. It accepts no wildcard, and not null, which is the
// origin of many pages.
func CheckOrigin(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
		!strings.EqualFold(text, u.Scheme+"://"+u.Host) {
		return fmt.Errorf("%w: %q is no origin (accepted: http:// or https://, a host and perhaps a port, such as https://app.example)", db.ErrInput, text)
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
