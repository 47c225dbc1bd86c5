package buffer

import "testing"

func TestComposeReadsAcrossParts(t *testing.T) {
	b := Compose(CopyString("ab"), CopyString("c"), CopyString("defgh"))
	if got := b.ReadUint32(); got != 0x61626364 {
		t.Fatalf("%x", got)
	}
	l := b.Split(2)
	if !l.Equal([]byte("ef")) || !b.Equal([]byte("gh")) {
		t.Fatalf("%q %q", l.Bytes(), b.Bytes())
	}
	b.Append(CopyString("xyz"))
	b.WriteUint16(0x4142)
	if string(b.Bytes()) != "ghxyzAB" {
		t.Fatalf("%q", b.Bytes())
	}
	l.Close()
	b.Close()
}
