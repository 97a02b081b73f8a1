// Small plots in SVG. Numbers stay text in the page, so that they can be read, copied and checked; colours come from
// style sheets by class.
import { svg } from './dom'

export interface Series {
  label: string
  values: (number | null)[]
  /** ± so much, drawn as a bar through the point. */
  errors?: (number | null)[]
  kind: 'accent' | 'second' | 'third'
}

/** Round steps: at most `most` of them, the last one not below the largest value. */
export function ticks(largest: number, most = 5): number[] {
  if (!(largest > 0)) return [0]
  const raw = largest / (most - 1)
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each * (most - 1) >= largest)!
  const list: number[] = []
  for (let i = 0; i === 0 || list.at(-1)! < largest; ++i) list.push(Number((i * step).toPrecision(6)))
  return list
}

interface Frame {
  width: number
  height: number
  left: number
  bottom: number
  top: number
  right: number
}

function frameOf(host: Element): Frame {
  return { width: Math.max(260, host.clientWidth || 480), height: 180, left: 44, bottom: 28, top: 22, right: 8 }
}

function axes(frame: Frame, steps: number[], names: string[], unit: string, xLabel: string): SVGElement[] {
  const parts: SVGElement[] = []
  const top = steps[steps.length - 1] || 1
  const y = (value: number) => frame.height - frame.bottom - ((frame.height - frame.bottom - frame.top) * value) / top
  for (const step of steps) {
    parts.push(
      svg('line', { x1: frame.left, x2: frame.width - frame.right, y1: y(step), y2: y(step), class: 'grid' }),
      svg('text', { x: frame.left - 6, y: y(step) + 4, class: 'tick end' }, String(step)),
    )
  }
  parts.push(svg('text', { x: 4, y: 9, class: 'tick' }, unit))
  const slot = (frame.width - frame.left - frame.right) / Math.max(1, names.length)
  const every = Math.ceil(names.length / 8)
  names.forEach((name, i) => {
    if ((names.length - 1 - i) % every === 0)
      parts.push(svg('text', { x: frame.left + slot * (i + 0.5), y: frame.height - 14, class: 'tick middle' }, name))
  })
  parts.push(svg('text', { x: frame.width - frame.right, y: frame.height - 2, class: 'tick end' }, xLabel))
  return parts
}

function stage(frame: Frame, description: string): SVGElement {
  return svg('svg', {
    viewBox: `0 0 ${frame.width} ${frame.height}`,
    width: frame.width,
    height: frame.height,
    role: 'img',
    'aria-label': description,
    class: 'plot',
  })
}

/** Columns, stacked where there are several series. */
export function columns(
  host: Element,
  names: string[],
  series: Series[],
  unit: string,
  xLabel: string,
  description: string,
): SVGElement {
  const frame = frameOf(host)
  const sums = names.map((_, i) => series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0))
  const steps = ticks(Math.max(0, ...sums))
  const top = steps[steps.length - 1] || 1
  const slot = (frame.width - frame.left - frame.right) / Math.max(1, names.length)
  const scale = (frame.height - frame.bottom - frame.top) / top
  const plot = stage(frame, description)
  plot.append(...axes(frame, steps, names, unit, xLabel))
  names.forEach((name, i) => {
    let at = frame.height - frame.bottom
    for (const one of series) {
      const value = one.values[i] ?? 0
      at -= value * scale
      const column = svg('rect', {
        x: frame.left + slot * i + slot * 0.15,
        width: Math.max(1, slot * 0.7),
        y: at,
        height: Math.max(0, value * scale),
        class: `fill-${one.kind}`,
      })
      column.append(svg('title', {}, `${xLabel} ${name}, ${one.label}: ${value} ${unit}`))
      plot.append(column)
    }
  })
  return plot
}

/** Lines with their names at their ends; a missing value leaves a gap. */
export function lines(
  host: Element,
  names: string[],
  series: Series[],
  range: { from: number; to: number },
  xLabel: string,
  description: string,
): SVGElement {
  const frame = { ...frameOf(host), right: 56 }
  const plot = stage(frame, description)
  const slot = (frame.width - frame.left - frame.right) / Math.max(1, names.length)
  const y = (value: number) =>
    frame.height -
    frame.bottom -
    ((frame.height - frame.bottom - frame.top) * (value - range.from)) / (range.to - range.from)
  for (let i = 0; i <= 4; ++i) {
    const value = range.from + ((range.to - range.from) * i) / 4
    plot.append(
      svg('line', { x1: frame.left, x2: frame.width - frame.right, y1: y(value), y2: y(value), class: 'grid' }),
      svg('text', { x: frame.left - 6, y: y(value) + 4, class: 'tick end' }, value.toFixed(2)),
    )
  }
  const every = Math.ceil(names.length / 8)
  names.forEach((name, i) => {
    if ((names.length - 1 - i) % every === 0)
      plot.append(svg('text', { x: frame.left + slot * (i + 0.5), y: frame.height - 14, class: 'tick middle' }, name))
  })
  plot.append(svg('text', { x: frame.width - frame.right, y: frame.height - 2, class: 'tick end' }, xLabel))
  for (const one of series) {
    let path = ''
    let last: { x: number; y: number } | null = null
    one.values.forEach((value, i) => {
      if (value === null) {
        last = null
        return
      }
      const here = { x: frame.left + slot * (i + 0.5), y: y(value) }
      path += `${last ? 'L' : 'M'}${here.x.toFixed(1)} ${here.y.toFixed(1)}`
      last = here
      const dot = svg('circle', { cx: here.x, cy: here.y, r: 2.5, class: `fill-${one.kind}` })
      const error = one.errors?.[i] ?? 0
      const within = error > 0 ? ` ± ${Number(error.toPrecision(2))}` : ''
      dot.append(svg('title', {}, `${xLabel} ${names[i]}, ${one.label}: ${value}${within}`))
      if (error > 0) {
        const end = (at: number) => y(Math.min(range.to, Math.max(range.from, at)))
        plot.append(svg('line', { x1: here.x, x2: here.x, y1: end(value - error), y2: end(value + error), class: `line-${one.kind}` }))
      }
      plot.append(dot)
    })
    plot.append(svg('path', { d: path, class: `line-${one.kind}` }))
    const end = last as { x: number; y: number } | null
    if (end) plot.append(svg('text', { x: end.x + 6, y: end.y + 4, class: `tick text-${one.kind}` }, one.label))
  }
  return plot
}
