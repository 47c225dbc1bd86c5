package micro

import (
	"fmt"
	"net"
	nethttp "net/http"
	"net/netip"
	"testing"
	"time"

	"millrace.dev/codec/http"
	"millrace.dev/codec/ipaddr"
)

var (
	datesipSink int
	datesipAddr netip.Addr
	datesipTime time.Time
)

// datesipCount is so many inputs that a branch predictor can't learn them.
const datesipCount = 2048

func datesipRun(b *testing.B, name string, f func(i int)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			f(i % datesipCount)
		}
	})
}

// Addresses as they stand in messages, in bytes, a quarter of them broken.
func BenchmarkDatesIPAddr(b *testing.B) {
	r := seeded()
	for _, kind := range []struct {
		name string
		make func() netip.Addr
	}{
		{"ipv4", func() netip.Addr { return netip.AddrFrom4([4]byte(randomBytes(r, 4))) }},
		{"ipv6", func() netip.Addr {
			a := [16]byte(randomBytes(r, 16))
			clear(a[2*r.IntN(4) : 8+2*r.IntN(4)])
			return netip.AddrFrom16(a)
		}},
	} {
		var in [datesipCount][]byte
		for i := range in {
			in[i] = []byte(kind.make().String())
			if r.IntN(4) == 0 {
				in[i][r.IntN(len(in[i]))] = 'x'
			}
		}
		count := func(ok bool) {
			if ok {
				datesipSink++
			}
		}
		group := "input=" + kind.name
		datesipRun(b, group+"/op=valid/alt=net", func(i int) { count(net.ParseIP(string(in[i])) != nil) })
		datesipRun(b, group+"/op=valid/alt=stdlib", func(i int) { _, err := netip.ParseAddr(string(in[i])); count(err == nil) })
		if kind.name == "ipv4" {
			datesipRun(b, group+"/op=valid/alt=millrace", func(i int) { count(ipaddr.ValidIPv4(in[i])) })
		} else {
			datesipRun(b, group+"/op=valid/alt=millrace", func(i int) { count(ipaddr.ValidIPv6(in[i])) })
		}
		datesipRun(b, group+"/op=parse/alt=stdlib", func(i int) { datesipAddr, _ = netip.ParseAddr(string(in[i])) })
		datesipRun(b, group+"/op=parse/alt=millrace", func(i int) { datesipAddr, _ = ipaddr.Parse(in[i]) })
		var texts [datesipCount]string
		for i := range texts {
			texts[i] = string(in[i])
		}
		group += "-string"
		datesipRun(b, group+"/op=parse/alt=stdlib", func(i int) { datesipAddr, _ = netip.ParseAddr(texts[i]) })
		datesipRun(b, group+"/op=parse/alt=millrace", func(i int) { datesipAddr, _ = ipaddr.Parse(texts[i]) })
		var addrs [datesipCount]netip.Addr
		for i := range addrs {
			addrs[i] = kind.make()
		}
		out := make([]byte, 0, 64)
		group = "input=" + kind.name
		datesipRun(b, group+"/op=write/alt=sprint", func(i int) { datesipSink += len(fmt.Sprint(addrs[i])) })
		datesipRun(b, group+"/op=write/alt=millrace-go", func(i int) { datesipSink += len(addrs[i].AppendTo(out)) })
	}
}

// Dates as they stand in header fields, in bytes.
func BenchmarkDatesIPDate(b *testing.B) {
	r := seeded()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var times [datesipCount]time.Time
	for i := range times {
		times[i] = now.Add(-time.Duration(r.IntN(40*365*24)) * time.Hour).Add(time.Duration(r.IntN(3600)) * time.Second)
	}
	for _, form := range []struct{ name, layout string }{
		{"imf-fixdate", nethttp.TimeFormat},
		{"rfc850", "Monday, 02-Jan-06 15:04:05 GMT"},
		{"asctime", time.ANSIC},
	} {
		var in [datesipCount][]byte
		for i := range in {
			in[i] = []byte(times[i].Format(form.layout))
		}
		group := "input=" + form.name + "/op=parse"
		datesipRun(b, group+"/alt=stdlib", func(i int) { datesipTime, _ = nethttp.ParseTime(string(in[i])) })
		datesipRun(b, group+"/alt=millrace", func(i int) { datesipTime, _ = http.ParseDate(in[i], now) })
	}
	out := make([]byte, 0, 64)
	datesipRun(b, "input=imf-fixdate/op=write/alt=stdlib", func(i int) { datesipSink += len(times[i].AppendFormat(out, nethttp.TimeFormat)) })
	datesipRun(b, "input=imf-fixdate/op=write/alt=millrace", func(i int) { datesipSink += len(http.AppendDate(out, times[i])) })
	// A loop has read its clock for the turn; net/http's server looks at its own.
	date := http.NewDate(time.Now)
	datesipRun(b, "op=line/alt=stdlib", func(int) { datesipSink += len(time.Now().UTC().AppendFormat(out, nethttp.TimeFormat)) })
	datesipRun(b, "op=line/alt=millrace", func(i int) { datesipSink += len(date.Line(time.Duration(i) * time.Microsecond)) })
}
