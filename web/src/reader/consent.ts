// Before anything is asked: what would be told, by whom and how much of it, in words made from the very terms that the
// library states.
import { el } from '../common/dom'
import type { Terms } from '../device'
import { words } from './words'

/** True: the person said yes to these terms. */
export function askConsent(text: string): Promise<boolean> {
  const terms = JSON.parse(text) as Terms
  const limits = terms.asking_limits
  const isPrivate = limits.ranking === 'private'
  return new Promise((resolve) => {
    const dialog = el(
      'dialog',
      { class: 'consent', 'aria-labelledby': 'consent-title' },
      el('h2', { id: 'consent-title' }, words.consent.title),
      isPrivate
        ? el(
            'ul',
            {},
            el('li', {}, words.consent.asks(terms.service)),
            el('li', {}, words.consent.limits(limits.epsilon, limits.refresh_hours)),
            limits.day_epsilon > 0 && el('li', {}, words.consent.day(limits.day_epsilon), ' ', words.panel.odds(limits.day_epsilon)),
            limits.month_epsilon > 0 && el('li', {}, words.consent.month(limits.month_epsilon)),
          )
        : el('p', {}, words.panel.modes['popular']![1]),
      el('p', { class: 'quiet' }, words.consent.change),
      el(
        'p',
        { class: 'choices' },
        el('button', { type: 'button', click: () => dialog.close('no') }, words.consent.no),
        el('button', { type: 'button', class: 'main', id: 'agree', click: () => dialog.close('yes') }, words.consent.yes),
      ),
    )
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue === 'yes')
      dialog.remove()
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}
