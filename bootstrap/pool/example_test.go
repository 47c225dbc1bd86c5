package pool_test

import (
	"context"
	"fmt"

	"millrace.dev/bootstrap"
	"millrace.dev/bootstrap/pool"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

func Example() {
	ctx := context.Background()
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	network := local.New(local.Options{})
	init := func(ch *channel.Channel) error { return ch.Pipeline().AddLast("ignore", ignore{}) }
	server := &bootstrap.Server{Group: group, Transport: network, Init: init}
	client := &bootstrap.Client{Group: group, Transport: network, Init: init}
	ln, err := server.Bind(local.Addr("backend")).Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}

	p := pool.NewFixed(pool.FixedOptions{
		Options:  pool.Options{Connect: func() pool.Future { return client.Connect(ln.LocalAddr()) }},
		MaxConns: 10,
	})
	first, err := p.Acquire().Wait(ctx)
	fmt.Println(first.RemoteAddr(), err)
	err = p.Release(first)
	fmt.Println(err)
	second, err := p.Acquire().Wait(ctx)
	fmt.Println(second == first, err)

	_, _ = p.Close().Wait(ctx)
	_, _ = group.Shutdown(0, 0).Wait(ctx)
	// Output:
	// backend <nil>
	// <nil>
	// true <nil>
}

// One notice over a pool: a connection is taken, written to, and given back.
func ExampleUse() {
	ctx := context.Background()
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	network := local.New(local.Options{})
	init := func(ch *channel.Channel) error { return ch.Pipeline().AddLast("ignore", ignore{}) }
	server := &bootstrap.Server{Group: group, Transport: network, Init: init}
	client := &bootstrap.Client{Group: group, Transport: network, Init: init}
	ln, err := server.Bind(local.Addr("backend")).Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := pool.NewSimple(pool.Options{
		Connect: func() pool.Future { return client.Connect(ln.LocalAddr()) },
	})

	sent := pool.Use(p, func(ch *channel.Channel) channel.Future {
		return ch.WriteAndFlush(buffer.CopyString("the mill stands still\n"))
	})
	_, err = sent.Wait(ctx)
	fmt.Println(err, p.Acquired(), p.Idle())

	_, _ = p.Close().Wait(ctx)
	_, _ = group.Shutdown(0, 0).Wait(ctx)
	// Output: <nil> 0 1
}
