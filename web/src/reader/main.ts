// The reader's page. Where it is on the page stands behind the # of the address, which no request carries.
import { el } from '../common/dom'
import { bytes } from '../common/format'
import { themeButton } from '../common/theme'
import { Device, DeviceError, type Participation, type Recommended, type Scope, type Sent, type State } from '@sotto/device'
import { cards } from './cards'
import { Choices, type Mode } from './choices'
import { askConsent, askTraining } from './consent'
import { Edition, type Story } from './edition'
import { Panel, budgetOf, type TrainingView } from './panel'
import { words } from './words'

const onAPage = 24
const kept = 500 // of an answer, to be ranked again by what is read meanwhile
const mostExplained = 3
const alike = 0.4 // cosine from which one story explains another
// Milliseconds until a coordinator is asked again that does not say when, and that was not reached; and between looks for
// a newer model while this page trains.
const lookForRounds = 5000
const afterTrouble = 30_000
const lookForModels = 60_000
// Whoever refuses an offer for one of these was shown what nobody should be: nothing is asked there any more.
const neverAgain = ['log', 'operator-signature', 'coordinator-signature']

const itemPath = (id: string): string => `/v1/items/${encodeURIComponent(id)}`

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
  /** What the server showed is not used, and nothing is asked of it. */
  private refused = ''
  /** Everything was deleted: the next thing asked of the device would begin it anew. */
  private isErased = false
  private busy = 0
  /** Of the rounds that this tab takes its device to. */
  private isTraining = false
  private isRoundOpen = false
  private trainsNoMore = false
  private trainingProblem = ''
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
      release: (category, isReleased) =>
        void this.guard(async () => {
          this.choices.release(category, isReleased)
          if (this.choices.mode === 'released' && this.choices.released.length === 0) this.choices.mode = 'local'
          await this.device.call('use', this.choices.settings(this.edition.offer))
          await this.look()
        }),
      train: () => void this.guard(() => this.startTraining()),
      stopTraining: () => void this.guard(() => this.stopTraining()),
      pause: () =>
        void this.guard(async () => {
          await this.stopAsking()
          await this.setMode('local')
        }),
      save: () => void this.guard(() => this.saveFile()),
      forgetReading: () =>
        void this.guard(async () => {
          await this.device.call('forgetReading')
          await this.recommend()
        }),
      forgetItem: (item) =>
        void this.guard(async () => {
          await this.device.call('forgetItem', item)
          await this.rankAgain()
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
    device.onErased = () => this.drawErased()
    this.draw(true)
    void this.guard(async () => {
      try {
        await this.device.call('refresh')
      } catch (problem) {
        this.refused = words.refused((problem as Error).message)
        if (!this.refused) this.notice = words.offline
      }
      await this.recommend()
      while (await this.edition.fetchOlder()) this.draw(false)
      this.draw(false)
      // So that the next question takes no time, whenever it is due.
      if (this.choices.mode === 'blind' && this.state?.consent) await this.device.call('prepare')
    })
  }

  /** What goes wrong is said; the page stays. */
  private async guard(act: () => Promise<void>): Promise<void> {
    if (this.isErased) return
    this.dot.classList.toggle('busy', ++this.busy > 0)
    try {
      await act()
    } catch (problem) {
      if (this.isErased) return
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
    void this.trainAlong()
  }

  /** Asks, where that is wanted and agreed to. Happens when the page is opened or its reader chooses another way,
   * never because something was read: when a request leaves must not tell that. */
  private async recommend(): Promise<void> {
    if (this.refused) {
      this.answer = null
      this.notice = this.refused
      await this.look()
      // Without an edition there is nothing to rank yet: the stories stand in their order.
      return this.state?.pack ? this.rankAgain() : undefined
    }
    const before = await this.device.call('state')
    this.answer = await this.device.call('recommend', kept)
    const { source, note } = this.answer
    if (before.lost) this.notice = this.choices.erased ? words.erased : words.lost
    else if (source === 'local' && note !== '' && this.choices.mode !== 'local') this.notice = words.offline
    else if (source === 'popular' && this.choices.mode === 'blind') this.notice = words.blindNote(note)
    else if (source === 'popular' && this.choices.mode !== 'popular') this.notice = words.budgetNote(note)
    else this.notice = ''
    await this.rankAgain()
  }

  /** The device knows the vectors of the pack alone: what an encrypted question found stays in its order. */
  private async leaveOut(found: Recommended): Promise<void> {
    await this.look()
    const read = new Set(this.state!.clicks.map((click) => click.item))
    const hidden = new Set(this.choices.hidden)
    this.ranked = found.items
      .map((one) => this.edition.stories.get(one.id))
      .filter((one) => one !== undefined)
      .filter((one) => !read.has(one.id) && !hidden.has(one.category))
      .slice(0, onAPage)
    this.draw(false)
  }

  private async rankAgain(): Promise<void> {
    const { answer } = this
    if (answer && this.choices.mode === 'blind' && ['blind query', 'repeated query'].includes(answer.source))
      return this.leaveOut(answer)
    const candidates = this.answer && this.answer.source !== 'local' ? this.answer.items.map((one) => one.id) : []
    const { items } = await this.device.call('rankAgain', candidates, onAPage)
    this.ranked = items.map((one) => this.edition.stories.get(one.id)).filter((one) => one !== undefined)
    await this.look()
  }

  private async setMode(mode: Mode): Promise<void> {
    const before = this.choices.mode
    this.choices.mode = mode
    const consent = this.state?.consent
    const agreed = consent?.asking ? consent.asking_limits.ranking : undefined
    const tells = mode === 'private' || mode === 'released'
    if (mode !== 'local' && (!agreed || mode === 'released' || (tells && agreed !== 'private'))) {
      // What is to be agreed to depends on the settings, so they come first; nothing is asked meanwhile.
      await this.device.call('use', this.choices.settings(this.edition.offer))
      const trains = this.agreedToTrain()
      const text = await this.terms({ asking: true, training: trains })
      const answer = await askConsent(text, this.choices.released, mode, Boolean(this.state?.unproven), trains)
      if (answer === null) {
        this.choices.mode = before
        await this.device.call('use', this.choices.settings(this.edition.offer))
        this.panel.draw(this.view())
        return
      }
      await this.device.call('agree', text, answer.isFirst)
    }
    await this.device.call('use', this.choices.settings(this.edition.offer))
    try {
      await this.recommend()
    } catch (problem) {
      // Agreed to less than this: the person is asked again.
      await this.stopAsking()
      throw problem
    }
  }

  private agreedToTrain(): boolean {
    return Boolean(this.choices.training && this.state?.consent?.training)
  }
  /** Of training the purpose is the campaign's, which the device holds it to. */
  private terms(scope: Scope): Promise<string> {
    const purpose = scope.training && this.choices.training ? this.choices.training.purpose : words.consent.purpose
    return this.device.call('terms', this.edition.offer.service, purpose, scope)
  }
  /** To less than before, for which nobody needs to be asked. */
  private async agreeTo(scope: Scope): Promise<void> {
    if (scope.asking || scope.training) await this.device.call('agree', await this.terms(scope), true)
    else await this.device.call('withdraw')
  }
  private async stopAsking(): Promise<void> {
    await this.agreeTo({ asking: false, training: this.agreedToTrain() })
  }

  private async startTraining(): Promise<void> {
    const keys = this.edition.offer.training
    if (!keys) return
    this.trainingProblem = ''
    this.trainsNoMore = false
    const campaign = await this.device.call('campaign')
    const asking = Boolean(this.state?.consent?.asking)
    this.choices.training = {
      purpose: campaign.purpose,
      epsilon: campaign.epsilon + campaign.evaluation_epsilon,
      delta: campaign.delta,
      upload_bytes: campaign.upload_bytes,
      seconds: campaign.seconds,
    }
    try {
      await this.device.call('use', this.choices.settings(this.edition.offer))
      const text = await this.terms({ asking, training: true })
      const isTrial = keys.operator_key === null
      const answer = await askTraining(text, campaign, Boolean(this.state?.unproven), !isTrial)
      if (answer === null) return this.forgetTraining()
      await this.device.call('agree', text, answer.isFirst)
      const { operator_key, recovery_key } = keys
      await this.device.call('enrol', operator_key === null ? null : { token: answer.token, operator_key, recovery_key })
    } catch (problem) {
      await this.agreeTo({ asking, training: false })
      await this.forgetTraining()
      throw problem
    }
    await this.look()
  }
  private async stopTraining(): Promise<void> {
    await this.agreeTo({ asking: Boolean(this.state?.consent?.asking), training: false })
    await this.forgetTraining()
    await this.look()
  }
  private async forgetTraining(): Promise<void> {
    this.choices.training = null
    this.trainingProblem = ''
    await this.device.call('use', this.choices.settings(this.edition.offer))
    this.draw(false)
  }

  /** From round to round, in the tab that runs the device. The clock decides when something is asked. */
  private async trainAlong(): Promise<void> {
    if (this.isTraining || this.trainsNoMore) return
    this.isTraining = true
    let looked = Date.now()
    try {
      while (this.device.here && !this.isErased && this.agreedToTrain() && this.state?.enrolled_with) {
        const pause = await this.takePart()
        if (pause === null) break
        if (Date.now() > looked + lookForModels) {
          looked = Date.now()
          await this.takeModel()
        }
        await new Promise((resolve) => setTimeout(resolve, pause))
        this.state = await this.device.call('state')
      }
    } catch {
      // Everything was deleted meanwhile, or the tab that had the device has gone: whoever looks next begins anew.
    } finally {
      this.isTraining = false
    }
  }
  /** Milliseconds until the next round may be asked for; null: none is to be. */
  private async takePart(): Promise<number | null> {
    let part: Participation
    this.isRoundOpen = true
    try {
      part = await this.device.call('train')
    } catch {
      if (this.agreedToTrain()) this.trainingProblem = words.training.unreached
      return afterTrouble
    } finally {
      this.isRoundOpen = false
    }
    this.trainingProblem = this.problemOf(part)
    this.state = await this.device.call('state')
    this.sent = await this.device.call('sent')
    this.draw(false)
    this.trainsNoMore = neverAgain.includes(part.reason)
    if (this.trainsNoMore) return null
    return part.come_back_milliseconds ?? (part.outcome === 'took part' || part.outcome === 'no round' ? lookForRounds : afterTrouble)
  }
  private problemOf(part: Participation): string {
    if (part.reason === 'charged-before') return '' // the round that it has just been in
    if (part.outcome === 'refused') return words.training.refused(part.reason, part.why)
    if (part.outcome === 'ended' && part.why.startsWith('refused: ')) return words.training.spent
    return ''
  }
  private async takeModel(): Promise<void> {
    try {
      const { new: isNew } = await this.device.call('refresh')
      if (isNew) await this.rankAgain()
    } catch (problem) {
      this.refused = words.refused((problem as Error).message)
    }
  }

  private async opened(story: Story): Promise<void> {
    const shown = this.shown.some((one) => one.id === story.id) ? this.shown : [story]
    await this.device.call(
      'addPage',
      shown.map((one) => one.id),
      shown.map((one) => one.id === story.id),
    )
    // An item that the pack does not hold comes with its vector when it is opened, and its server knows.
    const known = (await this.device.call('state')).clicks.some((click) => click.item === story.id)
    if (!known && this.choices.mode === 'blind') await this.device.call('open', story.id)
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
    this.drawErased()
  }

  private drawErased(): void {
    this.isErased = true
    this.panel.close()
    const again = el('button', { type: 'button', class: 'main', click: () => location.reload() }, this.edition.offer.service)
    document.querySelector('#page')!.replaceChildren(el('main', { class: 'gone', id: 'gone' }, el('p', {}, words.erased), again))
  }

  private training(): TrainingView {
    return { isOn: this.agreedToTrain(), isRunning: this.isRoundOpen, problem: this.trainingProblem }
  }
  private view() {
    return { state: this.state, sent: this.sent, mode: this.choices.mode, hidden: this.choices.hidden, released: this.choices.released, edition: this.edition, training: this.training() }
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
        el('p', { class: 'quiet' }, this.sent.some((one) => one.path === itemPath(story.id)) ? words.openedThere : words.alsoRead),
        el('button', { type: 'button', click: () => history.back() }, words.back),
      ),
    )
  }

  private drawLine(): void {
    const told = this.sent.filter((one) => one.epsilon !== null)
    const distinct = new Set(told.map((one) => String(one.body)))
    const size = told.reduce((sum, one) => sum + one.body.length, 0)
    const sums = this.sent.filter((one) => one.meaning?.['step'] === 'upload' && one.status === 200)
    const sumSize = sums.reduce((sum, one) => sum + one.size, 0)
    const opened = new Set(this.sent.map((one) => one.path).filter((path) => path.startsWith(itemPath(''))))
    this.line.textContent = words.line(this.state?.clicks.length ?? 0, distinct.size, size, sums.length, sumSize, opened.size)
    this.line.title = bytes(size)
    const today = budgetOf(this.state, 'day')
    this.privacy.textContent = today && this.choices.mode === 'private' ? words.privacyUsed(today.spent, today.epsilon) : words.privacy
  }
}

const host = document.querySelector('#page')!
host.replaceChildren(el('p', { class: 'loading' }, words.loading))
try {
  const choices = new Choices()
  const edition = await Edition.fetch()
  choices.demand(edition.offer.log)
  const device = await Device.open(() => choices.settings(edition.offer))
  new Reader(host, edition, device, choices)
} catch (problem) {
  const isWithheld = problem instanceof DOMException && ['SecurityError', 'QuotaExceededError'].includes(problem.name)
  const isStorage = isWithheld || (problem instanceof DeviceError && problem.code === 'storage')
  host.replaceChildren(
    el('main', { class: 'gone', id: 'gone' }, el('p', {}, isStorage ? words.noStorage : words.problem((problem as Error).message))),
  )
}
