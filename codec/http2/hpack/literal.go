package hpack

// text is a string of a block as it was sent.
type text struct {
	raw     []byte
	huffman bool
}

// literal decodes a literal field, RFC 7541 section 6.2. It looks for both strings first
// and decodes them when they are there, so that what arrives in pieces isn't decoded anew
// with each of them.
func (d *Decoder) literal(p []byte, i int, sink Sink) (int, error) {
	first, mask := p[i], byte(0x0f)
	indexing := first&0x40 != 0
	if indexing {
		mask = 0x3f
	}
	index, i, err := readInteger(p, i, mask)
	if err != nil || i == incomplete {
		return i, err
	}
	if d.mustShrink {
		return 0, ErrTableSize
	}
	var name, value text
	if index == 0 {
		if name, i, err = d.text(p, i); err != nil || i == incomplete {
			return i, err
		}
	}
	if value, i, err = d.text(p, i); err != nil || i == incomplete {
		return i, err
	}
	d.started = true
	d.scratch.reset()
	traits, err := d.compose(index, name, value, indexing)
	if err != nil {
		return 0, err
	}
	f := &d.field
	f.describe(traits)
	f.Sensitive = first&0xf0 == 0x10
	if indexing {
		d.table.add(f.Name, f.Value, traits)
	}
	d.emit(f, sink)
	return i, nil
}

// text finds a string, RFC 7541 section 5.2.
func (d *Decoder) text(p []byte, i int) (t text, next int, err error) {
	if i == len(p) {
		return text{}, incomplete, nil
	}
	t.huffman = p[i]&0x80 != 0
	length, i, err := readInteger(p, i, 0x7f)
	if err != nil || i == incomplete {
		return text{}, i, err
	}
	if int64(length) > int64(d.limits.MaxString) {
		return text{}, 0, ErrTooLong
	}
	if next = i + int(length); next > len(p) {
		return text{}, incomplete, nil
	}
	t.raw = p[i:next:next]
	return t, next, nil
}

// compose sets the name and value of d.field. They are never views of the dynamic table
// when the field enters it: the insertion may well evict the entry that has the name.
func (d *Decoder) compose(index uint32, name, value text, indexing bool) (traits, error) {
	var t traits
	f := &d.field
	var err error
	switch {
	case index == 0:
		if f.Name, err = d.plain(name); err != nil {
			return t, err
		}
		t = nameTraits(f.Name)
	case index <= staticCount:
		s := &staticFields[index]
		f.Name = s.Name
		t.known, t.pseudo, t.validName = s.Known, s.Pseudo, true
	default:
		e := d.dynamic(index)
		if e == nil {
			return t, ErrIndex
		}
		t = e.traits
		f.Name = d.table.name(e)
		if indexing {
			if d.copied += len(f.Name); d.copied > maxCopied {
				return t, ErrTooMuchWork
			}
			f.Name = d.borrow().keep(f.Name)
		}
	}
	f.Value, err = d.plain(value)
	t.valid = t.validName && isValue(f.Value)
	return t, err
}

// plain returns the bytes that a string stands for. Only Huffman-encoded ones need memory.
func (d *Decoder) plain(t text) ([]byte, error) {
	if !t.huffman {
		return t.raw, nil
	}
	return d.borrow().decode(t.raw)
}
