// Numbers as people read them, with their units.
export const count = (value: number): string => value.toLocaleString('en')

export function bytes(value: number): string {
  if (value < 1000) return `${value} bytes`
  const units = ['kB', 'MB', 'GB', 'TB']
  let scaled = value
  let unit = -1
  while (scaled >= 1000 && unit + 1 < units.length) {
    scaled /= 1000
    ++unit
  }
  return `${scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)} ${units[unit]}`
}

export function seconds(value: number): string {
  if (value < 0.0005) return '0 s'
  if (value < 1) return `${Math.round(1000 * value)} ms`
  if (value < 120) return `${value.toFixed(1)} s`
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`
}

/** Three significant digits at most. */
export const epsilon = (value: number): string => Number(value.toPrecision(3)).toString()

export const shortHash = (hash: string): string => hash.slice(0, 12)
