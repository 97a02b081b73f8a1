// The drawer that says what stays and what leaves. It draws what the device says and the very bytes that left;
// it computes nothing of its own but odds.
import { el, share } from '../common/dom'
import { shortHash } from '../common/format'
import type { Sent, State } from '@sotto/device'
import type { Mode } from './choices'
import type { Edition } from './edition'
import { words } from './words'

export interface View {
  state: State | null
  sent: Sent[]
  mode: Mode
  hidden: string[]
  released: string[]
  edition: Edition
  training: TrainingView
}
export interface TrainingView {
  isOn: boolean
  isRunning: boolean
  /** Why it does not go on; empty: it does. */
  problem: string
}

export interface PanelActions {
  train(): void
  stopTraining(): void

  setMode(mode: Mode): void
  show(category: string, isShown: boolean): void
  release(category: string, isReleased: boolean): void
  pause(): void
  save(): void
  forgetReading(): void
  forgetItem(item: string): void
  erase(): void
}

interface Read {
  item: string
  title: string
}

const text = words.panel
const shownRequests = 30
const shownChanges = 50

/** A budget of the ledger as it stands; one that is closed counts as spent. */
export function budgetOf(state: State | null, window: string): { epsilon: number; spent: number; closed: boolean } | null {
  const found = state?.ledger.budgets.find((one) => one.window === window)
  if (!found) return null
  const { closed } = found
  return { epsilon: found.epsilon, spent: closed ? found.epsilon : (found.spent ?? found.epsilon), closed }
}

/** All rounds so far: of training, and of measuring what came of it. */
export function spentOnTraining(state: State | null): number {
  const ofRounds = state?.ledger.purposes.filter((one) => one.purpose === 'training' || one.purpose === 'evaluation')
  return (ofRounds ?? []).reduce((sum, one) => sum + (one.epsilon ?? 0), 0)
}

export class Panel {
  readonly element = el('dialog', { class: 'panel', id: 'panel', 'aria-labelledby': 'panel-title' })
  private readonly body = el('div', { class: 'panel-body' })
  private readonly expanded = new Set<number>()
  private readonly expandedTopics = new Set<string>()
  private isReleaseRead = false

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
    const parts = [
      this.modes(view),
      this.budgets(view),
      this.training(view),
      this.left(view),
      this.stayed(view),
      this.renamed(view),
      this.categories(view),
      this.releases(view),
      this.same(view),
      this.yours(view),
    ]
    this.body.replaceChildren(...parts.filter((one) => one !== null))
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true })
    this.element.scrollTop = top
  }

  private modes({ mode, edition, released }: View): HTMLElement {
    const { blind, epsilon } = edition.offer
    const offered: Mode[] = ['local', 'popular']
    if (blind) offered.push('blind')
    if (epsilon !== null) offered.push('private')
    if (epsilon !== null && released.length > 0) offered.push('released')
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
      epsilon === null && !blind && el('p', { class: 'quiet' }, text.notOffered),
    )
  }

  private budgets({ state, mode, edition, training }: View): HTMLElement {
    const section = el('section', {}, el('h3', {}, text.budget))
    if (mode === 'blind') section.append(el('p', { class: 'quiet', id: 'blind-budget' }, text.blindBudget))
    section.append(this.trainingBudget(state, edition, training.isOn))
    const isCharged = state?.ledger.budgets.some((one) => one.charges > 0 || one.closed)
    if (!training.isOn && (edition.offer.epsilon === null || (mode !== 'private' && !isCharged))) {
      if (mode !== 'blind') section.append(el('p', { class: 'quiet' }, text.noBudget))
      return section
    }
    const weights = new Set<string>()
    for (const window of ['day', 'month', 'lifetime']) {
      const budget = budgetOf(state, window)
      if (!budget || budget.epsilon < 1e-6) continue
      if (!budget.closed && budget.spent > 0) weights.add(text.of(budget.spent, 0))
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
    if (weights.size > 1) section.append(el('p', { class: 'quiet' }, text.weighs))
    const asks = mode === 'private' ? (state?.consent?.asking_limits.epsilon ?? edition.offer.epsilon) : null
    const meant = asks ?? (training.isOn ? state?.consent?.training_limits.epsilon : edition.offer.epsilon)
    if (meant) section.append(el('p', { class: 'quiet' }, text.odds(meant)))
    if (state) section.append(this.ledger(state))
    return section
  }

  /** Of all campaigns so far, against what was agreed to for one. */
  private trainingBudget(state: State | null, edition: Edition, isOn: boolean): HTMLElement {
    const all = isOn ? state?.consent?.training_limits.epsilon : undefined
    if (!all) {
      const why = edition.offer.training ? text.trainingOffered : text.noTraining
      return el('p', { class: 'quiet', id: 'training-budget' }, why)
    }
    const spent = spentOnTraining(state)
    return el(
      'div',
      { class: 'budget', id: 'training-budget', 'data-budget': 'training' },
      el('span', {}, text.trainingBudget),
      el('span', { class: 'number' }, text.of(spent, all)),
      share(spent, all),
    )
  }

  private training({ state, edition, training }: View): HTMLElement | null {
    if (!edition.offer.training) return null
    const said = words.training
    const section = el('section', { id: 'training' }, el('h3', {}, said.heading))
    if (!training.isOn) {
      section.append(
        el('p', { class: 'quiet' }, said.offer),
        el('button', { type: 'button', id: 'train', click: () => this.actions.train() }, said.begin),
      )
      if (training.problem) section.append(el('p', { id: 'training-problem' }, training.problem))
      return section
    }
    const times = state?.trained.filter((one) => one.outcome === 'took part').length ?? 0
    section.append(
      el('p', { id: 'training-state' }, `${training.isRunning ? said.running : said.waiting} ${said.done(times)}`),
      training.problem ? el('p', { id: 'training-problem' }, training.problem) : '',
      el(
        'div',
        { class: 'choice' },
        el('button', { type: 'button', id: 'stop-training', click: () => this.actions.stopTraining() }, said.stop),
        el('p', { class: 'quiet' }, said.stopNote),
      ),
    )
    return section
  }

  /** What was charged, in words. */
  private ledger({ ledger }: State): HTMLElement {
    const { charges, epsilon } = ledger.total
    const free = ledger.purposes.reduce((sum, one) => sum + one.free, 0)
    return el(
      'ul',
      { id: 'ledger', class: 'quiet' },
      el('li', {}, charges === 0 ? text.ledgerNothing : text.ledgerTold(charges, epsilon)),
      free > 0 && el('li', {}, text.ledgerFree(free)),
      el('li', {}, text.ledgerRecords(ledger.records)),
    )
  }

  private left({ sent }: View): HTMLElement {
    const section = el('section', { id: 'left' }, el('h3', {}, text.left))
    if (sent.length === 0) section.append(el('p', { class: 'quiet' }, text.leftNothing))
    for (const one of sent.slice(0, shownRequests)) section.append(this.request(one))
    return section
  }

  private request(one: Sent): HTMLElement {
    const [name, means, tells] = explain(one)
    const number = one.id ?? 0
    const details = el(
      'details',
      { class: 'sent', open: this.expanded.has(number), 'data-path': one.path },
      el(
        'summary',
        { id: `sent-${number}` },
        el('span', {}, name),
        el('span', { class: 'quiet' }, text.leftWhen(new Date(one.time).toLocaleTimeString(), one.size, one.times)),
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
          one.size > one.body.length && el('span', { class: 'quiet' }, text.leftMore(one.size - one.body.length)),
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
    section.append(el('p', { class: 'quiet', id: 'persisted' }, state?.persisted ? text.persisted : text.notPersisted))
    const clicks = state?.clicks ?? []
    if (clicks.length === 0) {
      section.append(el('p', { class: 'quiet' }, text.stayedNothing))
      return section
    }
    const byCategory = new Map<string, Read[]>()
    for (const click of clicks) {
      const story = edition.stories.get(click.item)
      const category = story?.category ?? click.categories[0] ?? ''
      byCategory.set(category, [...(byCategory.get(category) ?? []), { item: click.item, title: story?.title ?? click.item }])
    }
    for (const [category, reads] of [...byCategory].sort((a, b) => b[1].length - a[1].length))
      section.append(this.readsOf(category, reads))
    section.append(el('p', { class: 'quiet' }, text.forgetItemNote))
    return section
  }

  /** The reads of one topic, each with a way to delete it. */
  private readsOf(category: string, reads: Read[]): HTMLElement {
    const summary = el(
      'summary',
      { id: `reads-${category}` },
      el('span', {}, category),
      el('span', { class: 'quiet number' }, text.reads(reads.length)),
    )
    const row = ({ item, title }: Read) =>
      el(
        'li',
        { 'data-item': item },
        el('span', {}, title),
        el(
          'button',
          {
            type: 'button',
            'aria-label': text.forgetItem(title),
            click: () => {
              summary.focus() // the button goes with its row
              this.actions.forgetItem(item)
            },
          },
          text.delete,
        ),
      )
    const details = el(
      'details',
      { class: 'sent', open: this.expandedTopics.has(category), 'data-category': category },
      summary,
      el('ul', { class: 'reads' }, ...reads.map(row)),
    )
    details.addEventListener('toggle', () => {
      if (details.open) this.expandedTopics.add(category)
      else this.expandedTopics.delete(category)
    })
    return details
  }

  /** What the service calls by another name now, the latest first: whoever calls reads harmless could ask for them exactly. */
  private renamed({ state, edition }: View): HTMLElement | null {
    const changes = state?.label_changes ?? []
    if (changes.length === 0) return null
    const name = (category: string): string => category || text.renamedNone
    const shown = changes.slice(-shownChanges).reverse()
    return el(
      'details',
      { class: 'sent', id: 'renamed' },
      el('summary', {}, text.renamed(changes.length)),
      el('p', { class: 'quiet' }, text.renamedNote),
      el(
        'ul',
        {},
        ...shown.map((one) =>
          el('li', { 'data-item': one.item }, text.renamedOne(edition.stories.get(one.item)?.title ?? one.item, name(one.before), name(one.after))),
        ),
      ),
      changes.length > shown.length && el('p', { class: 'quiet' }, text.renamedMore(changes.length - shown.length)),
    )
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

  /** Explained before a switch can be thrown. */
  private releases({ released, edition }: View): HTMLElement | null {
    if (edition.offer.epsilon === null) return null
    const isOpen = this.isReleaseRead || released.length > 0
    return el(
      'fieldset',
      { class: 'switches', id: 'releases' },
      el('legend', {}, text.release),
      el('p', { class: 'quiet' }, text.releaseNote),
      !isOpen &&
        el(
          'button',
          {
            type: 'button',
            id: 'release-read',
            click: (event) => {
              this.isReleaseRead = true
              const place = (event.currentTarget as HTMLElement).parentElement!
              place.querySelectorAll('input').forEach((one) => one.removeAttribute('disabled'))
              ;(event.currentTarget as HTMLElement).remove()
            },
          },
          text.releaseRead,
        ),
      ...edition.categories.map((name) =>
        el(
          'label',
          {},
          el('input', {
            type: 'checkbox',
            id: `release-${name}`,
            checked: released.includes(name),
            disabled: !isOpen,
            change: (event) => this.actions.release(name, (event.target as HTMLInputElement).checked),
          }),
          name,
        ),
      ),
    )
  }

  /** Of the round that was taken part in last. */
  private campaign({ state, training }: View): HTMLElement {
    const last = state?.trained.find((one) => one.checked)
    if (!last?.checked) return el('p', { class: 'quiet', id: 'campaign' }, training.isOn ? text.sameNoRound : text.sameNoCampaign)
    const { campaign, campaign_entry, log_entries, log_root, witnesses, witnesses_needed } = last.checked
    return el(
      'p',
      { id: 'campaign' },
      text.sameCampaign(last.number, last.evaluates),
      ' ',
      el('span', { class: 'mono', id: 'campaign-hash' }, shortHash(campaign)),
      '. ',
      text.sameCampaignLog(campaign_entry, log_entries, witnesses, witnesses_needed),
      ' ',
      el('span', { class: 'mono', id: 'campaign-log' }, `✓ ${shortHash(log_root)}`),
    )
  }

  private same(view: View): HTMLElement {
    const { state } = view
    const log = state?.served_log
    const entry = log?.proved.filter((one) => one.kind === 'pack').at(-1)
    return el(
      'section',
      { id: 'same' },
      el('h3', {}, text.same),
      el('p', {}, text.samePack, ' ', el('span', { class: 'mono', id: 'pack' }, state?.pack ? `✓ ${shortHash(state.pack)}` : '')),
      el('p', { class: 'quiet' }, text.sameNote),
      log && entry
        ? el(
            'p',
            { id: 'log' },
            text.sameLog(log.entries, log.witnesses, log.witnesses_needed),
            ' ',
            el('span', { class: 'mono', id: 'log-entry' }, `✓ ${shortHash(entry.hash)}`),
            ' ',
            el('span', { class: 'mono quiet', id: 'log-root' }, text.sameRoot(shortHash(log.root), shortHash(log.owner))),
          )
        : el('p', { class: 'quiet', id: 'log' }, text.sameNoLog),
      this.campaign(view),
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
      button('pause', text.pause, text.pauseNote, () => this.actions.pause(), Boolean(state?.consent?.asking)),
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

/** Of a request whose body says nothing that its server could read. */
function publicKind(path: string): string {
  const ofTraining = /^\/training\/v1\/([a-z]+)/.exec(path)
  if (ofTraining) return ofTraining[1]!
  if (path === '/v1/blind') return 'question'
  const kinds = { '/v1/pack': 'pack', '/v1/blind/': 'guide', '/v1/items/': 'opened' }
  return Object.entries(kinds).find(([begin]) => path.startsWith(begin))?.[1] ?? 'other'
}

/** What it is called, what it means, and what its server can conclude. */
function explain(one: Sent): [string, string, string] {
  const said = one.meaning
  if (!said) return words.kinds[publicKind(one.path)] ?? words.kinds['other']!
  if (said['says'] === 'training') return words.kinds[String(said['step'])] ?? words.kinds['other']!
  if (said['says'] === 'nothing') return words.kinds['popular']!
  if (said['says'] === 'prototypes') {
    const all = Number(said['prototypes_in_all'] ?? 0)
    const told = said['prototypes'] as number[]
    const group = words.prototype(told[0] ?? 0, all)
    if (!one.epsilon) return [words.releasedKind, group, words.releasedTells]
    // k-ary randomised response, with the ε that was charged for it.
    const chance = Math.exp(one.epsilon) / (Math.exp(one.epsilon) + all - 1)
    return [words.privateKind, group, `${words.prototypeTrue(chance, all - 1)} ${words.charged(one.epsilon)}`]
  }
  if (said['says'] === 'weights') return [words.weights, words.weights, words.weightsTell]
  return words.kinds['other']!
}
