// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { SpritesClient } from '@fly/sprites'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const client = new SpritesClient('org/1/0001', { baseURL: url })
const sprite = await client.createSprite('sb1', { environment: { FROM_CREATE: 'yes' }, labels: ['ours'] })
try {
  assert.equal(sprite.status, 'cold')
  assert.deepEqual((await client.getSprite('sb1')).labels, ['ours'])
  await client.createSprite('sb2')
  assert.deepEqual((await client.listAllSprites('sb')).map((one) => one.name), ['sb1', 'sb2'])
  assert.equal((await client.listSprites({ maxResults: 1 })).hasMore, true)
  await client.deleteSprite('sb2')
  assert.deepEqual((await client.listAllSprites()).map((one) => one.name), ['sb1'])

  const ran = await sprite.execFile('sh', ['-c', 'echo $FROM_CREATE; echo err >&2'])
  assert.deepEqual([ran.exitCode, ran.stdout, ran.stderr], [0, 'yes\n', 'err\n'])
  await assert.rejects(sprite.execFile('sh', ['-c', 'exit 7']), (error) => error.exitCode === 7)

  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  const cat = sprite.spawn('cat', [])
  const said = []
  cat.stdout.on('data', (chunk) => said.push(chunk))
  await new Promise((resolve) => cat.on('spawn', resolve))
  const sessions = await sprite.listSessions()
  assert.deepEqual(sessions.map((one) => [one.command, one.tty]), [['cat', false]])
  cat.stdin.write(bytes)
  cat.stdin.end()
  assert.equal(await cat.wait(), 0)
  assert.deepEqual(Buffer.concat(said), bytes)

  const terminal = sprite.spawn('sh', ['-c', 'stty size; read line; stty size; echo got $line'],
    { tty: true, rows: 24, cols: 80 })
  let shown = ''
  terminal.stdout.on('data', (chunk) => { shown += chunk })
  await new Promise((resolve) => terminal.on('spawn', resolve))
  while (!shown.includes('24 80')) await new Promise((resolve) => setTimeout(resolve, 10))
  const id = (await sprite.listSessions()).find((one) => one.tty).id
  const second = sprite.attachSession(id)
  await new Promise((resolve) => second.on('spawn', resolve))
  second.resize(100, 30)
  second.stdin.write('hi\n')
  assert.equal(await terminal.wait(), 0)
  assert.match(shown, /30 100[^]*got hi/)

  const place = (await sprite.execFile('pwd')).stdout.trim()
  const files = sprite.filesystem(place)
  await files.writeFile('deep/data.bin', bytes, { mode: 0o640 })
  assert.deepEqual(await files.readFile('deep/data.bin', null), bytes)
  assert.equal((await files.stat('deep/data.bin')).mode, 0o640)
  assert.deepEqual(await files.readdir('deep'), ['data.bin'])
  await files.rename('deep/data.bin', 'deep/moved')
  await files.rm('deep', { recursive: true })
  await assert.rejects(files.readFile('deep/moved'), { code: 'ENOENT' })

  await sprite.updateNetworkPolicy({ rules: [{ domain: '*', action: 'deny' }] })
  assert.deepEqual((await sprite.getNetworkPolicy()).rules, [{ domain: '*', action: 'deny' }])
  await sprite.updateResourcesPolicy({ memory: { limitMB: 2048, autoscale: false } })
  assert.equal((await sprite.getResourcesPolicy()).memory.limitMB, 2048)

  await assert.rejects(client.createSprite('sb1'), { statusCode: 400 })
  await assert.rejects(client.getSprite('none'), { statusCode: 404 })
  await fault({ match: 'POST /v1/sprites$', kind: 'status', status: 429, headers: { 'Retry-After': '7' }, times: 1 })
  await assert.rejects(client.createSprite('sb3'), (error) => error.isRateLimitError() &&
    error.getRetryAfterSeconds() === 7)
} finally {
  await sprite.delete()
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
