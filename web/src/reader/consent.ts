// Before anything is asked: what would be told, by whom and how much of it, in words made from the very terms that the
// library states.
import { el } from '../common/dom'
import type { Campaign, Terms } from '@sotto/device'
import type { Mode } from './choices'
import { words } from './words'

export interface Agreed {
  isFirst: boolean
  /** Of training: as the service gave it out; empty where none was asked for. */
  token: string
}

/** The person said yes to being asked under these terms; null: they did not. isUnproven: nothing here says whether this
 * browser has told the service anything before, so the person is asked. trains: what was agreed to of training stays. */
export function askConsent(
  text: string,
  released: string[],
  mode: Mode,
  isUnproven: boolean,
  trains: boolean,
): Promise<Agreed | null> {
  const terms = JSON.parse(text) as Terms
  const limits = terms.asking_limits
  const asked: Record<Mode, () => HTMLElement> = {
    local: () => el('p', {}, words.panel.modes['local']![1]),
    released: () =>
      el(
        'ul',
        {},
        el('li', {}, words.consent.released(terms.service, released)),
        el('li', {}, words.consent.releasedFree),
      ),
    private: () =>
      el(
        'ul',
        {},
        el('li', {}, words.consent.asks(terms.service)),
        el('li', {}, words.consent.limits(limits.epsilon, limits.refresh_hours)),
        limits.day_epsilon > 0 && el('li', {}, words.consent.day(limits.day_epsilon), ' ', words.panel.odds(limits.day_epsilon)),
        limits.month_epsilon > 0 && el('li', {}, words.consent.month(limits.month_epsilon)),
      ),
    blind: () =>
      el(
        'ul',
        {},
        el('li', {}, words.consent.blind(terms.service)),
        el('li', {}, words.consent.blindHours(limits.refresh_hours)),
        el('li', {}, words.consent.blindOpened),
      ),
    popular: () => el('p', {}, words.panel.modes['popular']![1]),
  }
  return askPerson({
    title: words.consent.title,
    about: [asked[mode](), trains && el('p', { class: 'quiet' }, words.consent.trainingStays)],
    asksFirst: isUnproven && limits.ranking === 'private',
    asksToken: false,
  })
}

/** The same of training in a campaign, with the limits that the device will hold it to. */
export function askTraining(text: string, campaign: Campaign, isUnproven: boolean, asksToken: boolean): Promise<Agreed | null> {
  const terms = JSON.parse(text) as Terms
  const limits = terms.training_limits
  const lines = [
    words.training.asks(terms.service, campaign.purpose),
    words.training.how(campaign.group),
    words.training.costs(limits.epsilon, campaign.participations),
    words.panel.odds(limits.epsilon),
    words.training.takes(limits.upload_bytes, limits.seconds),
    words.training.known,
  ]
  return askPerson({
    title: words.training.title,
    about: [el('ul', {}, ...lines.map((line) => el('li', {}, line)))],
    asksFirst: isUnproven,
    asksToken,
  })
}

interface Question {
  title: string
  about: (HTMLElement | false)[]
  asksFirst: boolean
  asksToken: boolean
}

function askPerson({ title, about, asksFirst, asksToken }: Question): Promise<Agreed | null> {
  const isAnswered = (): boolean =>
    (!asksFirst || dialog.querySelector('input[name=first]:checked') !== null) &&
    (!asksToken || /^([0-9a-f]{2})+$/i.test(token.value.trim()))
  const look = () => agree.toggleAttribute('disabled', !isAnswered())
  // Neither answer is chosen for the person.
  const firstChoice = (id: string, label: string) =>
    el('label', {}, el('input', { type: 'radio', name: 'first', id, change: look }), el('span', {}, label))
  const token = el('input', { type: 'text', id: 'token', autocomplete: 'off', spellcheck: 'false', input: look })
  const agree: HTMLButtonElement = el(
    'button',
    { type: 'button', class: 'main', id: 'agree', disabled: asksFirst || asksToken, click: () => dialog.close('yes') },
    words.consent.yes,
  )
  const first = firstChoice('first-time', words.consent.firstTime)
  const dialog: HTMLDialogElement = el(
    'dialog',
    { class: 'consent', 'aria-labelledby': 'consent-title' },
    el('h2', { id: 'consent-title' }, title),
    ...about,
    asksToken && el('label', { class: 'token' }, el('span', {}, words.training.token), token),
    asksFirst &&
      el(
        'fieldset',
        { class: 'modes', id: 'first' },
        el('legend', {}, words.consent.firstAsk),
        first,
        firstChoice('not-first', words.consent.notFirst),
      ),
    el('p', { class: 'quiet' }, words.consent.change),
    el('p', { class: 'choices' }, el('button', { type: 'button', click: () => dialog.close('no') }, words.consent.no), agree),
  )
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const isFirst = first.querySelector('input')!.checked
      resolve(dialog.returnValue === 'yes' ? { isFirst, token: token.value.trim().toLowerCase() } : null)
      dialog.remove()
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}
