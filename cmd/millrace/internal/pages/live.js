'use strict';
(() => {
  const kept = 120; // samples, one a second
  const least = 30; // the time axis begins with so many, and grows with what there is to show
  const count = v => v.toLocaleString('en', { maximumFractionDigits: v < 10 ? 1 : 0 });
  const bytes = v => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let i = 0;
    while (v >= 1024 && i < units.length - 1) { v /= 1024; i++; }
    return (i === 0 || v >= 100 ? Math.round(v) : v.toFixed(1)) + ' ' + units[i];
  };
  const perSecond = format => v => format(v) + '/s';
  const sum = (s, key) => s.loops.reduce((n, l) => n + l[key], 0);

  // Each chart shows a level, or how fast a counter rises.
  const charts = [
    { title: 'Open connections', level: s => s.connections.open, show: count },
    { title: 'Connections opened', rate: s => s.connections.opened, show: perSecond(count) },
    { title: 'Requests', rate: s => s.requests.begun, show: perSecond(count) },
    { title: 'Received', rate: s => s.bytes.in, show: perSecond(bytes) },
    { title: 'Sent', rate: s => s.bytes.out, show: perSecond(bytes) },
    { title: 'Waiting to be sent', level: s => s.bytes.pending, show: bytes },
    { title: 'Loop events', rate: s => sum(s, 'events'), show: perSecond(count) },
    { title: 'Loop tasks', rate: s => sum(s, 'tasks'), show: perSecond(count) },
    { title: 'Timers waiting', level: s => s.timers, show: count },
    { title: 'Buffers in use', level: s => s.allocator.used, show: bytes },
    { title: 'Buffers kept for reuse', level: s => s.allocator.cached, show: bytes },
    { title: 'Reserved for buffers', level: s => s.allocator.reserved, show: bytes },
    { title: 'Go heap', level: s => s.memory.heap_bytes, show: bytes },
    { title: 'Goroutines', level: s => s.memory.goroutines, show: count },
    { title: 'Connections refused', rate: s => s.connections.refused, show: perSecond(count) },
    { title: 'Connections timed out', rate: s => s.requests.timeouts, show: perSecond(count) },
  ];

  const svg = (name, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    return e;
  };
  const element = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  for (const c of charts) {
    c.values = [];
    const card = element('li', 'chart');
    card.append(element('h2', '', c.title));
    c.figure = element('div', 'figure', '–');
    c.picture = svg('svg', { viewBox: '0 0 100 40', preserveAspectRatio: 'none', role: 'img', 'aria-label': c.title });
    c.area = svg('path', { class: 'area' });
    c.curve = svg('path', { class: 'curve' });
    c.picture.append(svg('path', { class: 'base', d: 'M0 39.5H100' }), c.area, c.curve);
    const span = element('div', 'span');
    c.low = element('span');
    c.high = element('span');
    span.append(c.low, c.high);
    card.append(c.figure, c.picture, span);
    document.getElementById('charts').append(card);
  }

  const draw = c => {
    const top = Math.max(...c.values), bottom = Math.min(...c.values);
    const scale = Math.max(top, 1e-9) * 1.08;
    const shown = Math.max(least, c.values.length);
    const x = i => (100 * (shown - c.values.length + i) / (shown - 1)).toFixed(2);
    const y = v => (39.5 - 38 * v / scale).toFixed(2);
    const line = c.values.map((v, i) => (i ? 'L' : 'M') + x(i) + ' ' + y(v)).join('');
    const now = c.values[c.values.length - 1];
    c.curve.setAttribute('d', line);
    c.area.setAttribute('d', line + 'L100 39.5L' + x(0) + ' 39.5Z');
    c.figure.textContent = c.show(now);
    c.low.textContent = 'least ' + c.show(bottom);
    c.high.textContent = 'most ' + c.show(top);
    c.picture.setAttribute('aria-label', c.title + ': now ' + c.show(now) + ', least ' + c.show(bottom) + ', most ' + c.show(top));
  };

  let last;
  const take = s => {
    const seconds = last ? s.uptime_seconds - last.uptime_seconds : 0;
    if (seconds < 0) { // another server answers at this address now
      for (const c of charts) c.values = [];
      last = undefined;
    }
    for (const c of charts) {
      if (c.rate && !(last && seconds > 0)) continue;
      c.values.push(c.level ? c.level(s) : Math.max(0, (c.rate(s) - c.rate(last)) / seconds));
      if (c.values.length > kept) c.values.shift();
      draw(c);
    }
    const rows = s.loops.map((l, i) => {
      const before = last && last.loops[i];
      const rate = (key, format) => before && seconds > 0 ? format(Math.max(0, (l[key] - before[key]) / seconds)) : '–';
      const row = element('tr');
      const name = element('th', '', l.name);
      name.scope = 'row';
      row.append(name);
      for (const text of [count(l.connections), rate('events', count), rate('turns', count), rate('tasks', count),
        rate('sleeps', count), rate('bytes_in', bytes), rate('bytes_out', bytes), count(l.timers)]) {
        row.append(element('td', 'number', text));
      }
      return row;
    });
    document.getElementById('loops').replaceChildren(...rows);
    last = s;
  };

  const state = document.getElementById('state');
  const say = (text, className) => {
    if (state.textContent !== text) state.textContent = text; // each change is read out
    state.className = className;
  };
  const connect = () => {
    const source = new EventSource('/stats/stream');
    source.onopen = () => say('connected', 'on');
    source.onmessage = e => take(JSON.parse(e.data));
    source.onerror = () => {
      say('connection lost, trying again', 'off');
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000); // else it tries by itself
    };
  };
  connect();
})();
