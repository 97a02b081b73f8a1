// Light, dark, or what the system says. Only this choice is kept.
import { el } from './dom'

const key = 'sotto-theme'

export function themeButton(label: string): HTMLElement {
  const kept = localStorage.getItem(key)
  if (kept) document.documentElement.dataset.theme = kept
  const isDark = () =>
    document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches
  const button = el('button', { type: 'button', 'aria-label': label, title: label }, '◐')
  button.addEventListener('click', () => {
    const next = isDark() ? 'light' : 'dark'
    document.documentElement.dataset.theme = next
    localStorage.setItem(key, next)
  })
  return button
}
