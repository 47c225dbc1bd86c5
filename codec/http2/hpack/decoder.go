package hpack

// Decoder decodes the header blocks of one connection, RFC 7541 section 3. The zero Decoder
// is ready, with the defaults of Limits and DefaultTableSize. Between blocks it holds
// nothing but its dynamic table, and so has nothing to close.
type Decoder struct {
	table  table
	limits Limits
	// tableLimit is the SETTINGS_HEADER_TABLE_SIZE that bounds updates by the peer.
	tableLimit uint32
	// mustShrink says that the next block has to begin with an update.
	mustShrink bool
	ready      bool

	err     error
	open    bool // within a block
	started bool // a field of the block has been seen
	// What the header list has left of its limits, in bytes and in fields. One of them is
	// negative when the list exceeds them.
	room, left int
	copied     int // bytes of names copied because of references to them
	field      Field
	text       []byte // the strings of the field that had to be decoded, in small or in scratch
	small      [128]byte
	scratch    *scratch
}

// maxCopied bounds the work that references to names in the dynamic table can cause in a
// block: two bytes received have the decoder copy a name of any length. The names of a
// thousand usual fields are less.
const maxCopied = 32 << 10

// SetLimits changes the limits; call it between blocks.
func (d *Decoder) SetLimits(l Limits) {
	d.init()
	d.limits = l.effective()
}

// SetTableSize changes the limit of the dynamic table to a SETTINGS_HEADER_TABLE_SIZE that
// this end has announced: call it between blocks, when the peer has acknowledged it. From
// then on a size below the one in use makes an update necessary at the beginning of the
// next block (RFC 9113 section 4.3.1).
func (d *Decoder) SetTableSize(n uint32) {
	d.init()
	d.tableLimit = n
	d.mustShrink = n < d.table.max
}

func (d *Decoder) init() {
	if !d.ready {
		d.ready = true
		d.table.max, d.tableLimit = DefaultTableSize, DefaultTableSize
		d.limits = Limits{}.effective()
	}
}

// Decode takes the next fragment of a block, of any length, and hands every field that is
// complete with it to sink; end says that the fragment is the block's last. At most one
// field is kept until the next fragment. The fragment is not needed when Decode has
// returned.
//
// A field that makes the list exceed the limits is not handed out, nor is any behind it;
// but they still count for the dynamic table, so that the connection can go on: TooLarge
// tells when the block has ended.
//
// An error is one of this package's. The Decoder is of no use then, and gives the same
// error for ever.
func (d *Decoder) Decode(fragment []byte, end bool, sink Sink) error {
	if d.err != nil {
		return d.err
	}
	if !d.open {
		d.begin()
	}
	p := fragment
	carried := d.scratch != nil && len(d.scratch.pending) > 0
	if carried {
		d.scratch.pending = append(d.scratch.pending, fragment...)
		p = d.scratch.pending
	}
	n, err := d.decodeFields(p, sink)
	d.field.Name, d.field.Value = nil, nil // the fragment's memory may soon be somebody else's
	rest := p[n:]
	switch {
	case err != nil:
	case !end:
		d.carry(rest)
		return nil
	case len(rest) > 0:
		err = ErrTruncated
	case d.mustShrink:
		err = ErrTableSize
	}
	d.err = err
	d.open = false
	d.text = nil
	d.scratch.release()
	d.scratch = nil
	return err
}

// TooLarge reports whether the header list of the last block, or of the one that is being
// decoded, exceeds the limits, so that fields were left out. A server answers 431.
func (d *Decoder) TooLarge() bool { return d.room|d.left < 0 }

func (d *Decoder) begin() {
	d.init()
	d.open, d.started = true, false
	d.room, d.left, d.copied = d.limits.MaxList, d.limits.MaxFields, 0
}

// carry keeps the beginning of a field until the next fragment. It has been measured: its
// strings are within their limit. A field that is complete ends within the last fragment,
// so that each byte is moved once at most.
func (d *Decoder) carry(rest []byte) {
	if len(rest) > 0 {
		s := d.borrow()
		s.pending = append(s.pending[:0], rest...)
	} else if d.scratch != nil {
		d.scratch.pending = d.scratch.pending[:0]
	}
}

// decodeFields decodes what is complete in p and returns where it ends.
func (d *Decoder) decodeFields(p []byte, sink Sink) (int, error) {
	for i := 0; i < len(p); {
		next := i + 1
		var err error
		switch c := p[i]; {
		case c > 0x80 && c < 0xff: // most fields are an index in one byte
			err = d.indexed(uint32(c&0x7f), sink)
		case c >= 0x80:
			next, err = d.longIndexed(p, i, sink)
		case c&0xe0 == 0x20:
			next, err = d.sizeUpdate(p, i)
		default:
			next, err = d.literal(p, i, sink)
		}
		if err != nil {
			return 0, err
		}
		if next == incomplete {
			return i, nil
		}
		i = next
	}
	return len(p), nil
}

func (d *Decoder) longIndexed(p []byte, i int, sink Sink) (int, error) {
	index, next, err := readInteger(p, i, 0x7f)
	if err != nil || next == incomplete {
		return next, err
	}
	return next, d.indexed(index, sink)
}

// indexed: RFC 7541 section 6.1.
func (d *Decoder) indexed(index uint32, sink Sink) error {
	if d.mustShrink {
		return ErrTableSize
	}
	d.started = true
	if index-1 < staticCount {
		d.emit(&staticFields[index], sink)
		return nil
	}
	e := d.dynamic(index)
	if e == nil {
		return ErrIndex
	}
	f := &d.field
	f.Name, f.Value = d.table.views(e)
	f.describe(e.traits)
	f.Sensitive = false
	d.emit(f, sink)
	return nil
}

// dynamic returns the dynamic table's entry of an index that is not 1 to 61, or nil.
func (d *Decoder) dynamic(index uint32) *entry {
	if index -= staticCount + 1; index < d.table.count {
		return d.table.at(index)
	}
	return nil
}

// sizeUpdate: RFC 7541 section 6.3; it is allowed before the first field only.
func (d *Decoder) sizeUpdate(p []byte, i int) (int, error) {
	size, next, err := readInteger(p, i, 0x1f)
	if err != nil || next == incomplete {
		return next, err
	}
	if d.started || size > d.tableLimit {
		return 0, ErrTableSize
	}
	d.table.setMax(size)
	d.mustShrink = false
	return next, nil
}

// emit counts a field and hands it out while the list is within its limits.
func (d *Decoder) emit(f *Field, sink Sink) {
	d.room -= f.Size()
	d.left--
	if d.room|d.left >= 0 {
		sink.Field(f)
	}
}

func (f *Field) describe(t traits) {
	f.Known, f.Pseudo, f.Valid = t.known, t.pseudo, t.valid
}
