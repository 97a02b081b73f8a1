// The drawer that says what stays and what leaves. It draws what the device says and the very bytes that left;
// it computes nothing of its own but odds.
import { el, share } from '../common/dom'
import { bytes, shortHash } from '../common/format'
import type { Budget, Sent, State } from '../device'
import type { Mode } from './choices'
import type { Edition } from './edition'
import { words } from './words'

export interface View {
  state: State | null
  sent: Sent[]
  mode: Mode
  hidden: string[]
  edition: Edition
}

export interface PanelActions {
  setMode(mode: Mode): void
  show(category: string, isShown: boolean): void
  pause(): void
  save(): void
  forgetReading(): void
  erase(): void
}

const text = words.panel
const shownRequests = 30

/** A budget of the ledger as it stands; one that is closed counts as spent. */
export function budgetOf(state: State | null, window: string): { epsilon: number; spent: number; closed: boolean } | null {
  const budgets = (state?.ledger.budgets ?? []) as unknown as Budget[]
  const found = budgets.find((one) => one.window === window)
  if (!found) return null
  const closed = Boolean(found.closed)
  return { epsilon: found.epsilon, spent: closed ? found.epsilon : (found.spent ?? found.epsilon), closed }
}

export class Panel {
  readonly element = el('dialog', { class: 'panel', id: 'panel', 'aria-labelledby': 'panel-title' })
  private readonly body = el('div', { class: 'panel-body' })
  private readonly expanded = new Set<number>()

  constructor(private readonly actions: PanelActions) {
    this.element.append(
      el(
        'header',
        {},
        el('h2', { id: 'panel-title' }, text.title),
        el('button', { type: 'button', 'aria-label': words.close, click: () => this.close() }, '✕'),
      ),
      this.body,
    )
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.close()
    })
  }

  open(): void {
    this.element.showModal()
  }
  close(): void {
    this.element.close()
  }

  draw(view: View): void {
    // What has the focus keeps it: everything that can have it has a name.
    const focused = this.body.contains(document.activeElement) ? document.activeElement?.id : ''
    const top = this.element.scrollTop
    this.body.replaceChildren(
      this.modes(view),
      this.budgets(view),
      this.left(view),
      this.stayed(view),
      this.categories(view),
      this.same(view),
      this.yours(view),
    )
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true })
    this.element.scrollTop = top
  }

  private modes({ mode, edition }: View): HTMLElement {
    const offered: Mode[] = edition.offer.epsilon === null ? ['local', 'popular'] : ['local', 'popular', 'private']
    return el(
      'fieldset',
      { class: 'modes' },
      el('legend', {}, text.mode),
      ...offered.map((one) => {
        const [name, meaning] = text.modes[one]!
        return el(
          'label',
          {},
          el('input', {
            type: 'radio',
            name: 'mode',
            id: `mode-${one}`,
            value: one,
            checked: one === mode,
            change: () => this.actions.setMode(one),
          }),
          el('span', {}, el('strong', {}, name), el('span', { class: 'quiet' }, meaning)),
        )
      }),
      edition.offer.epsilon === null && el('p', { class: 'quiet' }, text.notOffered),
    )
  }

  private budgets({ state, mode, edition }: View): HTMLElement {
    const section = el('section', {}, el('h3', {}, text.budget))
    if (edition.offer.epsilon === null || (mode !== 'private' && !state?.ledger.budgets.some((one) => one['charges']))) {
      section.append(el('p', { class: 'quiet' }, text.noBudget))
      return section
    }
    for (const window of ['day', 'month', 'lifetime']) {
      const budget = budgetOf(state, window)
      if (!budget || budget.epsilon < 1e-6) continue
      section.append(
        el(
          'div',
          { class: 'budget', 'data-budget': window },
          el('span', {}, text.window[window]),
          el('span', { class: 'number' }, text.of(budget.spent, budget.epsilon), budget.closed && `, ${text.closed}`),
          share(budget.spent, budget.epsilon),
        ),
      )
    }
    section.append(el('p', { class: 'quiet' }, text.odds(edition.offer.epsilon)))
    return section
  }

  private left({ sent, edition }: View): HTMLElement {
    const section = el('section', { id: 'left' }, el('h3', {}, text.left))
    if (sent.length === 0) section.append(el('p', { class: 'quiet' }, text.leftNothing))
    for (const one of sent.slice(0, shownRequests)) section.append(this.request(one, edition))
    return section
  }

  private request(one: Sent, edition: Edition): HTMLElement {
    const [name, means, tells] = explain(one, edition.offer.epsilon)
    const number = one.id ?? 0
    const details = el(
      'details',
      { class: 'sent', open: this.expanded.has(number), 'data-path': one.path },
      el(
        'summary',
        { id: `sent-${number}` },
        el('span', {}, name),
        el('span', { class: 'quiet' }, `${new Date(one.time).toLocaleTimeString()} · ${bytes(one.body.length)}`),
      ),
      el(
        'dl',
        {},
        el('dt', {}, text.leftBytes),
        el(
          'dd',
          { class: 'mono' },
          `${one.method} ${one.path}`,
          ...one.headers.map(([header, value]) => el('span', { class: 'header' }, `${header}: ${value}`)),
          el('span', { class: 'bytes' }, one.body.length ? hex(one.body) : text.leftBare),
          el('span', { class: 'quiet' }, text.got(one.status, one.received)),
        ),
        el('dt', {}, text.leftMeans),
        el('dd', {}, means),
        el('dt', {}, text.leftTells),
        el('dd', {}, tells),
      ),
    )
    details.addEventListener('toggle', () => {
      if (details.open) this.expanded.add(number)
      else this.expanded.delete(number)
    })
    return details
  }

  private stayed({ state, edition }: View): HTMLElement {
    const section = el('section', { id: 'stayed' }, el('h3', {}, text.stayed))
    const clicks = state?.clicks ?? []
    if (clicks.length === 0) {
      section.append(el('p', { class: 'quiet' }, text.stayedNothing))
      return section
    }
    const byCategory = new Map<string, string[]>()
    for (const click of clicks) {
      const story = edition.stories.get(click.item)
      const category = story?.category ?? click.categories[0] ?? ''
      byCategory.set(category, [...(byCategory.get(category) ?? []), story?.title ?? click.item])
    }
    for (const [category, titles] of [...byCategory].sort((a, b) => b[1].length - a[1].length))
      section.append(
        el(
          'details',
          { class: 'sent' },
          el('summary', {}, el('span', {}, category), el('span', { class: 'quiet number' }, text.reads(titles.length))),
          el('ul', {}, ...titles.map((title) => el('li', {}, title))),
        ),
      )
    return section
  }

  private categories({ hidden, edition }: View): HTMLElement {
    return el(
      'fieldset',
      { class: 'switches' },
      el('legend', {}, text.hide),
      el('p', { class: 'quiet' }, text.hideNote),
      ...edition.categories.map((name) =>
        el(
          'label',
          {},
          el('input', {
            type: 'checkbox',
            id: `show-${name}`,
            checked: !hidden.includes(name),
            change: (event) => this.actions.show(name, (event.target as HTMLInputElement).checked),
          }),
          name,
        ),
      ),
    )
  }

  private same({ state }: View): HTMLElement {
    return el(
      'section',
      {},
      el('h3', {}, text.same),
      el('p', {}, text.samePack, ' ', el('span', { class: 'mono', id: 'pack' }, state?.pack ? `✓ ${shortHash(state.pack)}` : '')),
      el('p', { class: 'quiet' }, text.sameNote),
    )
  }

  private yours({ state }: View): HTMLElement {
    const button = (id: string, label: string, note: string, act: () => void, isOn = true) =>
      el(
        'div',
        { class: 'choice' },
        el('button', { type: 'button', id, disabled: !isOn, click: act }, label),
        note !== '' && el('p', { class: 'quiet' }, note),
      )
    return el(
      'section',
      {},
      el('h3', {}, text.yours),
      button('pause', text.pause, text.pauseNote, () => this.actions.pause(), Boolean(state?.consent)),
      button('export', text.export, '', () => this.actions.save()),
      button('forget-reading', text.forgetReading, text.forgetReadingNote, () => this.actions.forgetReading()),
      button('erase', text.erase, text.eraseNote, () => this.confirmErase()),
    )
  }

  private confirmErase(): void {
    const dialog = el(
      'dialog',
      { class: 'consent', 'aria-labelledby': 'erase-title' },
      el('h2', { id: 'erase-title' }, text.erase),
      el('p', {}, text.eraseNote),
      el(
        'p',
        { class: 'choices' },
        el('button', { type: 'button', click: () => dialog.close() }, text.cancel),
        el(
          'button',
          {
            type: 'button',
            class: 'main',
            id: 'erase-sure',
            click: () => {
              dialog.close()
              this.actions.erase()
            },
          },
          text.eraseSure,
        ),
      ),
    )
    dialog.addEventListener('close', () => dialog.remove())
    document.body.append(dialog)
    dialog.showModal()
  }
}

const hex = (content: Uint8Array): string => Array.from(content, (byte) => byte.toString(16).padStart(2, '0')).join(' ')

/** What it is called, what it means, and what its server can conclude. */
function explain(one: Sent, epsilon: number | null): [string, string, string] {
  const said = one.meaning
  if (!said) return words.kinds[one.path.startsWith('/v1/pack') ? 'pack' : 'other']!
  if (said['says'] === 'nothing') return words.kinds['popular']!
  if (said['says'] === 'prototypes') {
    const all = Number(said['prototypes_in_all'] ?? 0)
    const told = said['prototypes'] as number[]
    // k-ary randomised response.
    const chance = Math.exp(epsilon ?? 0) / (Math.exp(epsilon ?? 0) + all - 1)
    return [words.privateKind, words.prototype(told[0] ?? 0, all), words.prototypeTrue(chance, all - 1)]
  }
  if (said['says'] === 'weights') return [words.weights, words.weights, words.weightsTell]
  return words.kinds['other']!
}
