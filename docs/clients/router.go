// Which ports a router has, where an address leads, and a route that is added and taken back: by the client in Go.
//
// usage: router SOCKET
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"volley.example/volley"
)

func main() {
	router, ctx := volley.Local(os.Args[1]), context.Background()
	ports, err := router.Ports(ctx)
	check(err)
	for _, port := range ports {
		link := map[bool]string{true: "up", false: "down"}[port.LinkUp]
		fmt.Println(port.Name, link, port.Rx.Packets, strings.Join(port.Addresses, " "))
	}
	show := func(address, before string) {
		found, err := router.Lookup(ctx, address, volley.LookupQuery{})
		check(err)
		fmt.Println(before + found.Outcome)
	}
	show("192.0.2.9", "192.0.2.9: ")
	// A change is meant for the configuration that was read: another one that came between refuses it.
	config, err := router.Config(ctx)
	check(err)
	router.IfMatch = &config.Revision
	applied, err := router.ConfigEdit(ctx, volley.EditText{Commands: "route add 10.0.0.0/24 blackhole"})
	check(err)
	for _, step := range applied.Changes {
		fmt.Println(step.Action, step.Kind, step.Name)
	}
	_, err = router.ConfigEdit(ctx, volley.EditText{Commands: "route del 10.0.0.0/24"})
	var refused *volley.Refused
	if errors.As(err, &refused) {
		fmt.Println("refused", refused.Status)
	}
	router.IfMatch = nil
	_, err = router.ConfigRollback(ctx, volley.RollbackTo{})
	check(err)
	show("10.0.0.1", "")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
