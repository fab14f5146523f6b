// Opens the dashboard at URL, types KEY, goes to each of the pages named after them, and prints what
// each shows: {page: {note, html, sections: {title: [[cell, …], …]}}}.
import {JSDOM} from 'jsdom';

const [url, key, ...pages] = process.argv.slice(2);
const dom = await JSDOM.fromURL(url, {runScripts: 'dangerously', pretendToBeVisual: true});
const {window} = dom, {document} = window;
// The document model has no network of its own.
window.fetch = (path, options) => fetch(new URL(path, url), options);

const settled = async () => {
  const note = document.getElementById('note');
  for (let i = 0; i < 200; ++i) {
    if (note.textContent.startsWith('Updated') || note.className === 'bad') return note.textContent;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error('the page shows nothing: ' + note.textContent);
};

const shown = {};
document.getElementById('key').value = key;
for (const page of pages) {
  document.getElementById('note').textContent = '';
  document.getElementById('note').className = '';
  window.location.hash = page;
  if (page === pages[0]) document.getElementById('form').dispatchEvent(new window.Event('submit', {cancelable: true}));
  const note = await settled();
  const sections = {};
  for (const section of document.querySelectorAll('section'))
    sections[section.querySelector('h2').textContent] = section.querySelector('table')
      ? [...section.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent))
      : section.textContent;
  shown[page] = {note, html: document.getElementById('page').innerHTML, sections};
}
console.log(JSON.stringify(shown));
process.exit(0);
