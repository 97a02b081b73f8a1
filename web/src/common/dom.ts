// Elements from code: no markup is ever parsed, so nothing that a server says can become part of the page but text.
export type Child = Node | string | null | undefined | false

type Attributes = Record<string, string | number | boolean | EventListener | undefined>

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name, value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  for (const child of children) if (child) element.append(child)
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  fill(element, attributes, children)
  return element
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  fill(element, attributes, children)
  return element
}

/** The width of an element by a style that the content security policy allows: set from code. */
export function share(part: number, whole: number): HTMLElement {
  const inner = el('span')
  inner.style.width = `${whole > 0 ? Math.min(100, (100 * part) / whole) : 0}%`
  return el('div', { class: 'bar' }, inner)
}
