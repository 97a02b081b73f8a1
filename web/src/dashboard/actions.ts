// What an operator does here. The token lives in this object and nowhere else: no storage, no cookie.
import { el } from '../common/dom'
import { act, get, type Action } from './api'
import { actionList } from './panels'
import { words } from './words'

export class Actions {
  readonly element: HTMLElement
  private token = ''
  private readonly said = el('p', { role: 'status', class: 'quiet' })
  private readonly body = el('div')

  constructor(private readonly changed: () => void) {
    this.element = el(
      'section',
      { class: 'card' },
      el('header', {}, el('h2', {}, words.actions), el('a', { class: 'source mono', href: '/openapi.json' }, '/v1/admin')),
      this.body,
      this.said,
    )
    this.draw()
  }

  get unlocked(): boolean {
    return this.token !== ''
  }

  private draw(): void {
    if (this.unlocked) void this.drawUnlocked()
    else this.drawLocked()
  }

  private drawLocked(): void {
    const input = el('input', { type: 'password', id: 'token', autocomplete: 'off', spellcheck: 'false' })
    const form = el(
      'form',
      { class: 'line' },
      el('label', { for: 'token' }, words.token),
      input,
      el('button', { type: 'submit', class: 'main' }, words.unlock),
    )
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.unlock(input.value.trim())
    })
    this.body.replaceChildren(el('p', { class: 'quiet' }, `${words.needToken} ${words.tokenNote}`), form)
  }

  private async unlock(token: string): Promise<void> {
    try {
      await get('/v1/admin/actions', token)
      this.token = token
      this.said.textContent = ''
    } catch (problem) {
      this.said.textContent = words.failed((problem as Error).message)
    }
    this.draw()
    this.changed()
  }

  private async drawUnlocked(): Promise<void> {
    const button = (name: string, path: string, ask?: string) => {
      const made = el('button', { type: 'button' }, name)
      made.addEventListener('click', () => {
        if (!ask || confirm(ask)) void this.run(path)
      })
      return made
    }
    const forget = el('button', { type: 'button' }, words.forget)
    forget.addEventListener('click', () => {
      this.token = ''
      this.draw()
      this.changed()
    })
    const done = el('div')
    this.body.replaceChildren(
      el(
        'div',
        { class: 'line' },
        button(words.pause, '/v1/admin/pause'),
        button(words.resume, '/v1/admin/resume'),
        button(words.drain, '/v1/admin/drain', words.drainAsk),
        forget,
      ),
      el('h3', {}, words.what),
      done,
    )
    try {
      const { actions } = await get<{ actions: Action[] }>('/v1/admin/actions', this.token)
      done.replaceChildren(actionList(actions))
    } catch (problem) {
      this.said.textContent = words.failed((problem as Error).message)
    }
  }

  private async run(path: string): Promise<void> {
    try {
      await act(path, this.token)
      this.said.textContent = words.done
    } catch (problem) {
      this.said.textContent = words.failed((problem as Error).message)
    }
    this.draw()
    this.changed()
  }

  /** Asks for a reason, then rolls back. */
  rollBack(version: number): void {
    const reason = el('input', { id: 'reason', maxlength: 200 })
    const dialog = el(
      'dialog',
      { class: 'card', 'aria-label': words.rollBackTo(version) },
      el('p', {}, words.rollBackAsk(version)),
    )
    const form = el(
      'form',
      { class: 'line' },
      el('label', { for: 'reason' }, words.reason),
      reason,
      el('button', { type: 'submit', class: 'main' }, words.rollBack),
      el('button', { type: 'button', click: () => dialog.close() }, words.cancel),
    )
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      dialog.close()
      const why = reason.value.trim()
      void this.run(`/v1/admin/roll-back?version=${version}${why ? `&why=${encodeURIComponent(why)}` : ''}`)
    })
    dialog.append(form)
    dialog.addEventListener('close', () => dialog.remove())
    document.body.append(dialog)
    dialog.showModal()
  }
}
