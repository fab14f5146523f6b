// Opens the dashboard at URL, types KEY, takes each of the steps named after them, and prints what it
// shows then: {step: {page, links, note, bad, asked, tenants, html, sections: {title: [[cell, …], …]}}}. A step is
// a page, more:TITLE (presses "Show more" there), state:STATE or profile:PROFILE (sets that filter), DELETE:PATH
// (asks that with the key, beside the page) or wait:MILLISECONDS.
import {JSDOM} from 'jsdom';

const [url, key, ...steps] = process.argv.slice(2);
const dom = await JSDOM.fromURL(url, {runScripts: 'dangerously', pretendToBeVisual: true});
const {window} = dom, {document} = window;
// The document model has no network of its own.
let asked = 0;
window.fetch = (path, options) => { ++asked; return fetch(new URL(path, url), options); };

const settled = async () => {
  const note = document.getElementById('note');
  for (let i = 0; i < 200; ++i) {
    if (note.textContent.startsWith('Updated') || note.className === 'bad') return note.textContent;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error('the page shows nothing: ' + note.textContent);
};

const with_text = (found, text) => [...found].find(one => one.textContent === text);
const filter = (id, value) => {
  document.getElementById(id).value = value;
  document.getElementById(id).dispatchEvent(new window.Event('change', {bubbles: true}));
};
async function take(step) {
  const [verb, word] = step.split(':');
  if (verb === 'wait') return new Promise(resolve => setTimeout(resolve, Number(word)));
  if (verb === 'DELETE') return fetch(new URL(word, url), {method: verb, headers: {Authorization: 'Bearer ' + key}});
  document.getElementById('note').textContent = '';
  document.getElementById('note').className = '';
  const title = with_text(document.querySelectorAll('h2'), word);
  if (verb === 'more') with_text(title.parentNode.querySelectorAll('button'), 'Show more').click();
  else if (word !== undefined) filter(verb, word);
  else window.location.hash = step;
}

const shown = {};
document.getElementById('key').value = key;
for (const step of steps) {
  await take(step);
  if (step === steps[0]) document.getElementById('form').dispatchEvent(new window.Event('submit', {cancelable: true}));
  const note = await settled();
  const sections = {};
  for (const section of document.querySelectorAll('section'))
    sections[section.querySelector('h2').textContent] = section.querySelector('table')
      ? [...section.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent))
      : section.textContent;
  const links = [...document.querySelectorAll('nav a')].filter(link => !link.hidden).map(link => link.textContent);
  const tenants = [...document.querySelectorAll('#tenant option')].map(option => option.textContent);
  const bad = document.getElementById('note').className === 'bad', html = document.getElementById('page').innerHTML;
  shown[step] = {page: window.location.hash, links, note, bad, asked, tenants, html, sections};
}
console.log(JSON.stringify(shown));
process.exit(0);
