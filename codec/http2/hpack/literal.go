package hpack

// sent is a string of a block as it was sent.
type sent struct {
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
	index, i := uint32(first&mask), i+1
	var err error
	if index == uint32(mask) {
		if index, i, err = readLongInteger(p, i, index); err != nil || i == incomplete {
			return i, err
		}
	}
	if d.mustShrink {
		return 0, ErrTableSize
	}
	var name, value sent
	if index == 0 {
		if name, i, err = d.readString(p, i); err != nil || i == incomplete {
			return i, err
		}
	}
	if value, i, err = d.readString(p, i); err != nil || i == incomplete {
		return i, err
	}
	d.started = true
	d.resetText()
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

// readString finds a string, RFC 7541 section 5.2.
func (d *Decoder) readString(p []byte, i int) (s sent, next int, err error) {
	if i == len(p) {
		return sent{}, incomplete, nil
	}
	s.huffman = p[i]&0x80 != 0
	length, i := uint32(p[i]&0x7f), i+1
	if length == 0x7f {
		if length, i, err = readLongInteger(p, i, length); err != nil || i == incomplete {
			return sent{}, i, err
		}
	}
	if int64(length) > int64(d.limits.MaxString) {
		return sent{}, 0, ErrTooLong
	}
	if next = i + int(length); next > len(p) {
		return sent{}, incomplete, nil
	}
	s.raw = p[i:next:next]
	return s, next, nil
}

// compose sets the name and value of d.field. They are never views of the dynamic table
// when the field enters it: the insertion may well evict the entry that has the name.
func (d *Decoder) compose(index uint32, name, value sent, indexing bool) (traits, error) {
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
			f.Name = d.keep(f.Name)
		}
	}
	f.Value, err = d.plain(value)
	t.valid = t.validName && isValue(f.Value)
	return t, err
}

// plain returns the bytes that a string stands for. Only Huffman-encoded ones need memory.
func (d *Decoder) plain(s sent) ([]byte, error) {
	if !s.huffman {
		return s.raw, nil
	}
	d.reserveText(maxDecoded(len(s.raw)))
	start := len(d.text)
	decoded, err := appendDecoded(d.text, s.raw)
	if err != nil {
		return nil, err
	}
	d.text = decoded
	return decoded[start:], nil
}

// keep returns a copy of p, for the length of a field.
func (d *Decoder) keep(p []byte) []byte {
	d.reserveText(len(p))
	start := len(d.text)
	d.text = append(d.text, p...)
	return d.text[start:]
}
