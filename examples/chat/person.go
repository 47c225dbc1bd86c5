package main

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"
	"unicode"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/group"
	"millrace.dev/codec"
	"millrace.dev/handler/idle"
)

// nickname is an attribute, as others look at it too, whatever loop they are on.
var nickname = channel.NewAttributeKey[string]("nickname")

// person is the handler of one connection.
type person struct {
	room *group.Group
	last channel.Future // of what was sent to the room last
}

func (p *person) OnActive(ctx *channel.Context) {
	ch := ctx.Channel()
	nickname.Set(ch, fmt.Sprint("guest", ch.ID()))
	p.answer(ctx, "welcome: /nick NAME, /who, /quit")
	p.room.Add(ch) // which it leaves by itself
	p.say(ctx, "has come")
}

func (p *person) OnInactive(ctx *channel.Context) { p.say(ctx, "has gone") }

// OnRead gets one line, without its end.
func (p *person) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	line := printable(string(b.Bytes()))
	b.Close()
	command, argument, _ := strings.Cut(line, " ")
	switch command {
	case "/nick":
		p.rename(ctx, argument)
	case "/who":
		p.who(ctx)
	case "/quit":
		ctx.Close()
	default:
		p.say(ctx, "says: "+line)
	}
}

// OnReadComplete is the back pressure: nobody is read from until the room has what they said.
func (p *person) OnReadComplete(ctx *channel.Context) {
	if p.last.IsDone() {
		return
	}
	ctx.Channel().SetAutoRead(false)
	p.last.OnComplete(func(channel.Future) { ctx.Channel().SetAutoRead(true) })
}

// OnEvent says goodbye.
func (p *person) OnEvent(ctx *channel.Context, event any) {
	switch event.(type) {
	case idle.Event:
		p.answer(ctx, "you have fallen asleep")
		ctx.Close()
	case bootstrap.Drain:
		p.answer(ctx, "the room is closed")
		ctx.Close()
	}
}

func (p *person) OnError(ctx *channel.Context, err error) {
	var tooLong *codec.TooLongError
	if errors.As(err, &tooLong) {
		p.answer(ctx, "that was too long")
		return
	}
	log.Println(ctx.Channel(), err)
	ctx.Close()
}

func (p *person) rename(ctx *channel.Context, name string) {
	if name == "" || len(name) > 30 {
		p.answer(ctx, "a name has up to 30 letters")
		return
	}
	p.say(ctx, "is now "+name)
	nickname.Set(ctx.Channel(), name)
}

// who lists the people of all loops.
func (p *person) who(ctx *channel.Context) {
	var mu sync.Mutex
	var names []string
	p.last = p.room.Each(func(ch *channel.Channel) {
		name, _ := nickname.Get(ch)
		mu.Lock()
		defer mu.Unlock()
		names = append(names, name)
	})
	p.last.OnComplete(func(channel.Future) {
		slices.Sort(names)
		ctx.Channel().WriteAndFlush(text(strings.Join(names, ", ")))
	})
}

// say tells everybody else. Who is so slow that too much waits already misses it.
func (p *person) say(ctx *channel.Context, what string) {
	name, _ := nickname.Get(ctx.Channel())
	me := ctx.Channel()
	p.last = p.room.Send(text(name+" "+what), func(ch *channel.Channel) bool {
		return ch != me && ch.IsWritable()
	})
}

// answer tells the person alone.
func (p *person) answer(ctx *channel.Context, what string) { ctx.WriteAndFlush(text(what)) }

func text(line string) *buffer.Buffer { return buffer.CopyString(line + "\r\n") }

// printable leaves out what would do something to other people's terminals.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}
