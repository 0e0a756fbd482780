package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Listener is one address of the broker.
type Listener struct {
	Name string // as in listeners, upper case
	Host string // "" in Listeners: all interfaces
	Port int    // 0 in Listeners: any free port
	TLS  bool
}

// Addr is HOST:PORT.
func (l Listener) Addr() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

func (b *Broker) resolveListeners(hostname string) (listen, advertised []Listener, err error) {
	protocols, err := b.securityProtocols()
	if err != nil {
		return nil, nil, err
	}
	all, err := b.parseListeners("listeners")
	if err != nil {
		return nil, nil, err
	}
	controllers := SplitList(strings.ToUpper(b.String("controller.listener.names")))
	for _, l := range all {
		if slices.Contains(controllers, l.Name) {
			continue
		}
		if l.TLS, err = b.secured(l.Name, protocols); err != nil {
			return nil, nil, err
		}
		listen = append(listen, l)
	}
	if len(listen) == 0 {
		return nil, nil, b.wrong("listeners", "want at least one listener that is not in controller.listener.names")
	}
	advertised, err = b.resolveAdvertised(listen, controllers, hostname)
	return listen, advertised, err
}

// securityProtocols reads listener.security.protocol.map.
func (b *Broker) securityProtocols() (map[string]string, error) {
	const setting = "listener.security.protocol.map"
	m := make(map[string]string)
	for _, pair := range SplitList(b.String(setting)) {
		name, protocol, ok := strings.Cut(pair, ":")
		name, protocol = strings.ToUpper(strings.TrimSpace(name)), strings.TrimSpace(protocol)
		if !ok || name == "" {
			return nil, b.wrong(setting, "want NAME:PROTOCOL pairs separated by commas")
		}
		if _, twice := m[name]; twice {
			return nil, b.wrong(setting, "names "+name+" twice")
		}
		m[name] = protocol
	}
	return m, nil
}

// secured tells whether a listener uses TLS.
func (b *Broker) secured(name string, protocols map[string]string) (bool, error) {
	protocol, ok := protocols[name]
	if !ok {
		return false, b.wrong("listener.security.protocol.map", "want a security protocol for listener "+name)
	}
	switch strings.ToUpper(protocol) {
	case "PLAINTEXT":
		return false, nil
	case "SSL":
		return true, nil
	case "SASL_PLAINTEXT", "SASL_SSL":
		return false, b.wrong("listeners", "listener "+name+" has security protocol "+protocol+
			", and spate does not serve SASL yet; want PLAINTEXT or SSL")
	}
	return false, b.wrong("listener.security.protocol.map", "want PLAINTEXT or SSL for listener "+name)
}

// resolveAdvertised finds what clients are told for each listener.
func (b *Broker) resolveAdvertised(listen []Listener, controllers []string, hostname string) ([]Listener, error) {
	const setting = "advertised.listeners"
	given, err := b.parseListeners(setting)
	if err != nil {
		return nil, err
	}
	for _, a := range given {
		if !slices.Contains(controllers, a.Name) && !slices.ContainsFunc(listen, func(l Listener) bool { return l.Name == a.Name }) {
			return nil, b.wrong(setting, "there is no listener "+a.Name+" in listeners")
		}
	}
	advertised := make([]Listener, len(listen))
	for i, l := range listen {
		advertised[i] = l
		if j := slices.IndexFunc(given, func(a Listener) bool { return a.Name == l.Name }); j >= 0 {
			advertised[i].Host, advertised[i].Port = given[j].Host, given[j].Port
		}
		if advertised[i].Host == "" {
			advertised[i].Host = hostname
		}
		if ip := net.ParseIP(advertised[i].Host); ip != nil && ip.IsUnspecified() {
			return nil, b.wrong(setting, "clients cannot connect to "+advertised[i].Host+"; want a name or address of this host for listener "+l.Name)
		}
	}
	return advertised, nil
}

// parseListeners reads a list of NAME://HOST:PORT.
func (b *Broker) parseListeners(setting string) ([]Listener, error) {
	var all []Listener
	ports := make(map[string]bool)
	for _, text := range b.List(setting) {
		l, err := parseListener(text)
		if err != nil {
			return nil, b.wrong(setting, err.Error())
		}
		if slices.ContainsFunc(all, func(o Listener) bool { return o.Name == l.Name }) {
			return nil, b.wrong(setting, "names listener "+l.Name+" twice")
		}
		if l.Port != 0 && ports[l.Addr()] {
			return nil, b.wrong(setting, "has "+l.Addr()+" twice")
		}
		ports[l.Addr()] = true
		all = append(all, l)
	}
	return all, nil
}

func parseListener(text string) (Listener, error) {
	bad := fmt.Errorf("%q: want NAME://HOST:PORT, such as PLAINTEXT://127.0.0.1:9092", text)
	name, address, ok := strings.Cut(text, "://")
	if !ok || name == "" {
		return Listener{}, bad
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return Listener{}, bad
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || strings.ContainsAny(host, "/ ") {
		return Listener{}, bad
	}
	return Listener{Name: strings.ToUpper(name), Host: host, Port: int(n)}, nil
}
