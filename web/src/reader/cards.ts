// A list of stories as cards. A card opens its story here; its quiet mark says why it is there.
import { el } from '../common/dom'
import type { Story } from './edition'
import { words } from './words'

export interface CardActions {
  open(story: Story): void
  why(story: Story): Promise<HTMLElement>
}

export function cards(stories: Story[], actions: CardActions, withWhy: boolean): HTMLElement {
  const now = Date.now() / 1000
  return el(
    'ol',
    { class: 'cards' },
    ...stories.map((story) => {
      const reason = el('div', { class: 'reason', 'aria-live': 'polite' })
      const why = el(
        'button',
        {
          type: 'button',
          class: 'plain why',
          'aria-expanded': 'false',
          'aria-label': `${words.why} ${story.title}`,
          click: (event) => {
            const button = event.currentTarget as HTMLElement
            const isOpen = button.getAttribute('aria-expanded') === 'true'
            button.setAttribute('aria-expanded', String(!isOpen))
            if (isOpen) reason.replaceChildren()
            else void actions.why(story).then((said) => reason.replaceChildren(said))
          },
        },
        words.why,
      )
      return el(
        'li',
        { class: 'card', 'data-item': story.id, 'data-category': story.category },
        el('p', { class: 'quiet over' }, el('span', {}, story.category), el('span', {}, words.age(now - story.published))),
        el(
          'h2',
          {},
          el(
            'a',
            {
              href: `#/story/${encodeURIComponent(story.id)}`,
              click: () => actions.open(story),
            },
            story.title,
          ),
        ),
        withWhy && why,
        withWhy && reason,
      )
    }),
  )
}
