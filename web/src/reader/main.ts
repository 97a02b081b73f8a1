// The reader's page. Where it is on the page stands behind the # of the address, which no request carries.
import { el } from '../common/dom'
import { bytes } from '../common/format'
import { themeButton } from '../common/theme'
import { Device, DeviceError, type Recommended, type Sent, type State } from '../device'
import { cards } from './cards'
import { Choices, type Mode } from './choices'
import { askConsent } from './consent'
import { Edition, type Story } from './edition'
import { Panel, budgetOf } from './panel'
import { words } from './words'

const onAPage = 24
const kept = 500 // of an answer, to be ranked again by what is read meanwhile
const mostExplained = 3
const alike = 0.4 // cosine from which one story explains another

type Place = { name: 'for-you' | 'latest' } | { name: 'category' | 'search' | 'story'; what: string }

function placeOf(hash: string): Place {
  let parts: string[] = []
  try {
    parts = hash.split('/').map(decodeURIComponent)
  } catch {
    // Somebody typed an address that is none: the front page.
  }
  const [, name, what] = parts
  if ((name === 'category' || name === 'search' || name === 'story') && what) return { name, what }
  return { name: name === 'latest' ? 'latest' : 'for-you' }
}

class Reader {
  private state: State | null = null
  private sent: Sent[] = []
  private answer: Recommended | null = null
  private ranked: Story[] = []
  private shown: Story[] = []
  private notice = ''
  private busy = 0
  private readonly panel: Panel
  private readonly notices = el('div', { class: 'notice', role: 'status' })
  private readonly content = el('main', { id: 'content', tabindex: '-1' })
  private readonly sections = el('nav', { 'aria-label': words.sections })
  private readonly line = el('footer', { class: 'line quiet', id: 'line' })
  private readonly privacy = el('button', { type: 'button', id: 'privacy', click: () => this.panel.open() }, words.privacy)
  private readonly dot = el('span', { class: 'dot', 'aria-hidden': 'true' })
  private readonly search = el('input', {
    type: 'search',
    id: 'search',
    'aria-label': words.search,
    placeholder: words.searchHint,
    input: () => {
      const text = this.search.value.trim()
      location.replace(text === '' ? '#/' : `#/search/${encodeURIComponent(text)}`)
    },
  })

  constructor(
    host: Element,
    private readonly edition: Edition,
    private readonly device: Device,
    private readonly choices: Choices,
  ) {
    this.panel = new Panel({
      setMode: (mode) => void this.guard(() => this.setMode(mode)),
      show: (category, isShown) =>
        void this.guard(async () => {
          this.choices.show(category, isShown)
          await this.device.call('use', this.choices.settings(this.edition.offer))
          await this.rankAgain()
        }),
      pause: () =>
        void this.guard(async () => {
          await this.device.call('withdraw')
          await this.setMode('local')
        }),
      save: () => void this.guard(() => this.saveFile()),
      forgetReading: () =>
        void this.guard(async () => {
          await this.device.call('forgetReading')
          await this.recommend()
        }),
      erase: () => void this.guard(() => this.erase()),
    })
    host.replaceChildren(
      el(
        'header',
        { class: 'top' },
        el('a', { href: '#/', class: 'brand' }, el('h1', {}, edition.offer.service)),
        this.search,
        this.dot,
        themeButton(words.theme),
        this.privacy,
      ),
      this.sections,
      this.notices,
      this.content,
      this.line,
      this.panel.element,
    )
    document.title = edition.offer.service
    addEventListener('hashchange', () => this.draw(true))
    addEventListener('storage', () => {
      this.choices.read()
      void this.guard(() => this.look())
    })
    let timer = 0
    device.onChange = () => {
      clearTimeout(timer)
      timer = window.setTimeout(() => void this.guard(() => this.look()), 30)
    }
    this.draw(true)
    void this.guard(async () => {
      try {
        await this.device.call('refresh')
      } catch {
        this.notice = words.offline
      }
      await this.recommend()
    })
  }

  /** What goes wrong is said; the page stays. */
  private async guard(act: () => Promise<void>): Promise<void> {
    this.dot.classList.toggle('busy', ++this.busy > 0)
    try {
      await act()
    } catch (problem) {
      const isStorage = problem instanceof DeviceError && problem.code === 'storage'
      this.notice = isStorage ? words.noStorage : words.problem((problem as Error).message)
      this.draw(false)
    } finally {
      this.dot.classList.toggle('busy', --this.busy > 0)
    }
  }

  private async look(): Promise<void> {
    this.state = await this.device.call('state')
    this.sent = await this.device.call('sent')
    this.draw(false)
  }

  /** Asks, where that is wanted and agreed to. Happens when the page is opened or its reader chooses another way,
   * never because something was read: when a request leaves must not tell that. */
  private async recommend(): Promise<void> {
    const before = await this.device.call('state')
    this.answer = await this.device.call('recommend', kept)
    const { source, note } = this.answer
    if (before.lost) this.notice = this.choices.erased ? words.erased : words.lost
    else if (source === 'local' && this.choices.mode !== 'local') this.notice = words.offline
    else if (source === 'popular' && this.choices.mode === 'private')
      this.notice = note.startsWith('the budget is spent') ? words.spent : words.note(note)
    else this.notice = ''
    await this.rankAgain()
  }

  private async rankAgain(): Promise<void> {
    const candidates = this.answer && this.answer.source !== 'local' ? this.answer.items.map((one) => one.id) : []
    const { items } = await this.device.call('rankAgain', candidates, onAPage)
    this.ranked = items.map((one) => this.edition.stories.get(one.id)).filter((one) => one !== undefined)
    await this.look()
  }

  private async setMode(mode: Mode): Promise<void> {
    if (mode !== 'local' && !this.state?.consent) {
      // What is to be agreed to depends on the settings, so they come first; until then nothing is asked.
      await this.device.call('use', { ...this.choices.settings(this.edition.offer), ranking: mode })
      const text = await this.device.call('terms', this.edition.offer.service, words.consent.purpose)
      if (!(await askConsent(text))) {
        await this.device.call('use', this.choices.settings(this.edition.offer))
        this.panel.draw(this.view())
        return
      }
      await this.device.call('agree', text)
      await navigator.storage?.persist?.()
    }
    this.choices.mode = mode
    await this.device.call('use', this.choices.settings(this.edition.offer))
    try {
      await this.recommend()
    } catch (problem) {
      // Agreed to less than this: the person is asked again.
      await this.device.call('withdraw')
      throw problem
    }
  }

  private async opened(story: Story): Promise<void> {
    const shown = this.shown.some((one) => one.id === story.id) ? this.shown : [story]
    await this.device.call(
      'addPage',
      shown.map((one) => one.id),
      shown.map((one) => one.id === story.id),
    )
    await this.rankAgain()
  }

  private async why(story: Story): Promise<HTMLElement> {
    if (!this.state?.clicks.length) return el('p', { class: 'quiet' }, words.whyNothing)
    const like = (await this.device.call('why', story.id)).filter((one) => one.likeness > alike).slice(0, mostExplained)
    if (like.length === 0) return el('p', { class: 'quiet' }, words.whyUnlike)
    return el(
      'div',
      {},
      el('p', { class: 'quiet' }, words.whyBecause),
      el('ul', {}, ...like.map((one) => el('li', {}, this.edition.stories.get(one.id)?.title ?? one.id))),
      el('p', { class: 'quiet' }, words.whyNote),
    )
  }

  private async saveFile(): Promise<void> {
    const text = await this.device.call('export')
    const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
    el('a', { href: address, download: 'sotto-device.json' }).click()
    URL.revokeObjectURL(address)
  }

  private async erase(): Promise<void> {
    await this.device.call('erase')
    this.choices.forget()
    this.panel.close()
    const again = el('button', { type: 'button', class: 'main', click: () => location.reload() }, this.edition.offer.service)
    document.querySelector('#page')!.replaceChildren(el('main', { class: 'gone', id: 'gone' }, el('p', {}, words.erased), again))
  }

  private view() {
    return { state: this.state, sent: this.sent, mode: this.choices.mode, hidden: this.choices.hidden, edition: this.edition }
  }

  private draw(isNew: boolean): void {
    const place = placeOf(location.hash)
    if (place.name !== 'search' && document.activeElement !== this.search) this.search.value = ''
    this.drawSections(place)
    this.notices.replaceChildren(...this.noticeLines())
    // A story that is being read, or a list in which a reason is open, is not pulled away by what happens meanwhile.
    const isHeld = !isNew && (place.name !== 'for-you' || this.content.querySelector('[aria-expanded=true]') !== null)
    if (!isHeld) this.drawContent(place)
    const source = this.content.querySelector('#source')
    if (source) source.textContent = this.sourceText()
    this.drawLine()
    this.panel.draw(this.view())
    if (isNew && place.name === 'story') {
      scrollTo(0, 0)
      this.content.focus({ preventScroll: true })
    }
  }

  private noticeLines(): HTMLElement[] {
    const lines = this.notice ? [el('p', {}, this.notice)] : []
    if (!this.device.here) lines.push(el('p', {}, words.elsewhere))
    return lines
  }

  private drawSections(place: Place): void {
    const link = (text: string, address: string, isHere: boolean) =>
      el('a', { href: address, 'aria-current': isHere ? 'page' : undefined }, text)
    this.sections.replaceChildren(
      link(words.forYou, '#/', place.name === 'for-you'),
      link(words.latest, '#/latest', place.name === 'latest'),
      ...this.edition.categories.map((name) =>
        link(name, `#/category/${encodeURIComponent(name)}`, place.name === 'category' && place.what === name),
      ),
    )
  }

  private list(stories: Story[], withWhy: boolean, ...above: (Node | false)[]): void {
    this.shown = stories.slice(0, onAPage)
    const actions = { open: (story: Story) => void this.guard(() => this.opened(story)), why: (story: Story) => this.why(story) }
    const heads = above.filter((one) => one !== false)
    this.content.replaceChildren(...heads, cards(this.shown, actions, withWhy))
  }

  private drawContent(place: Place): void {
    const { latest } = this.edition
    if (place.name === 'story') return this.drawStory(place.what)
    if (place.name === 'category') return this.list(this.edition.of(place.what), false)
    if (place.name === 'latest') return this.list(latest, false)
    if (place.name === 'search') {
      const found = this.edition.search(place.what)
      const said = found.length ? words.found(found.length, place.what) : words.noneFound(place.what)
      return this.list(found, false, el('p', { class: 'quiet about' }, said))
    }
    const hidden = new Set(this.choices.hidden)
    if (!this.state || this.state.clicks.length === 0) {
      const first = el('section', { class: 'first' }, el('h2', {}, words.first.title), el('p', {}, words.first.text))
      return this.list(latest.filter((one) => !hidden.has(one.category)), true, first)
    }
    this.list(this.ranked, true, el('p', { class: 'quiet about', id: 'source' }, this.sourceText()))
  }

  private sourceText(): string {
    return this.answer ? (words.source[this.answer.source] ?? '') : ''
  }

  private drawStory(id: string): void {
    const story = this.edition.stories.get(id)
    if (!story) return this.list(this.edition.latest, false)
    this.content.replaceChildren(
      el(
        'article',
        { 'data-item': story.id },
        el('p', { class: 'quiet over' }, el('span', {}, story.category), el('span', {}, words.age(Date.now() / 1000 - story.published))),
        el('h2', { class: 'headline' }, story.title),
        ...story.text.split(/(?<=\.)\s+(?=[A-Z])/).map((sentence) => el('p', {}, sentence)),
        el('p', { class: 'quiet' }, words.alsoRead),
        el('button', { type: 'button', click: () => history.back() }, words.back),
      ),
    )
  }

  private drawLine(): void {
    const told = this.sent.filter((one) => one.meaning && one.meaning['says'] !== 'nothing')
    const distinct = new Set(told.map((one) => String(one.body)))
    const size = told.reduce((sum, one) => sum + one.body.length, 0)
    this.line.textContent = words.line(this.state?.clicks.length ?? 0, distinct.size, size)
    this.line.title = bytes(size)
    const today = budgetOf(this.state, 'day')
    this.privacy.textContent = today && this.choices.mode === 'private' ? words.privacyUsed(today.spent, today.epsilon) : words.privacy
  }
}

const host = document.querySelector('#page')!
host.replaceChildren(el('p', { class: 'loading' }, words.loading))
try {
  const edition = await Edition.fetch()
  const choices = new Choices()
  const device = await Device.open(() => choices.settings(edition.offer))
  new Reader(host, edition, device, choices)
} catch (problem) {
  const isStorage = problem instanceof DeviceError && problem.code === 'storage'
  host.replaceChildren(
    el('main', { class: 'gone', id: 'gone' }, el('p', {}, isStorage ? words.noStorage : words.problem((problem as Error).message))),
  )
}
