// Files, watches and signed addresses with the published client.
import assert from 'node:assert/strict'
import { FileType, FilesystemEventType, InvalidArgumentError, NotFoundError, Sandbox } from 'e2b'

const box = await Sandbox.create('base', { timeoutMs: 120_000 })
const files = box.files
const until = async (condition) => {
  for (let i = 0; i < 500 && !condition(); ++i) await new Promise((done) => setTimeout(done, 20))
  assert.ok(condition())
}
try {
  const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251)
  const wrote = await files.write('deep/data.bin', bytes.buffer)
  assert.deepEqual([wrote.name, wrote.path, wrote.type], ['data.bin', '/home/user/deep/data.bin', 'file'])
  assert.deepEqual(await files.read('deep/data.bin', { format: 'bytes' }), bytes)
  await files.write('note', 'täxt')
  assert.equal(await files.read('~/note'), 'täxt')
  assert.equal(await files.read('/home/user/note', { user: 'user' }), 'täxt')
  assert.equal(await files.read((await files.write('empty', '')).path), '')
  const stream = await files.read('deep/data.bin', { format: 'stream' })
  let count = 0
  for await (const piece of stream) count += piece.length
  assert.equal(count, bytes.length)
  const blob = await files.read('note', { format: 'blob' })
  assert.equal(await blob.text(), 'täxt')
  // Of several files the client escapes a quote in a name, which the server it was made for keeps so.
  const many = await files.write([{ path: 'many/a', data: 'A' }, { path: '/home/user/many/b"c', data: 'B' }])
  assert.deepEqual(many.map((one) => one.path), ['/home/user/many/a', '/home/user/many/b%22c'])
  assert.equal(await files.read('many/b%22c'), 'B')
  // A whole project at once, as the server it was made for takes it.
  const crowd = await files.write(Array.from({ length: 1100 }, (_, i) => ({ path: `crowd/${i}`, data: `${i}` })))
  assert.deepEqual([crowd.length, await files.read('crowd/1099')], [1100, '1099'])
  const streamed = new ReadableStream({ start(to) { to.enqueue(new TextEncoder().encode('str')); to.enqueue(
    new TextEncoder().encode('eam')); to.close() } })
  await files.write('streamed', streamed)
  assert.equal(await files.read('streamed'), 'stream')
  await assert.rejects(files.write('zip', 'x', { gzip: true }), InvalidArgumentError)
  await assert.rejects(files.write('meta', 'x', { metadata: { a: 'b' } }))
  await box.commands.run('printf "#!/bin/sh\\necho old" > run; chmod 755 run')
  await files.write('run', '#!/bin/sh\necho new')
  assert.equal((await box.commands.run('./run')).stdout, 'new\n')

  const names = async (path) => (await files.list(path)).map((one) => one.name)
  assert.ok((await names('')).includes('note'))
  assert.deepEqual(await names(''), await names('~'))

  assert.equal(await files.exists('note'), true)
  assert.equal(await files.makeDir('folder/inner'), true)
  assert.equal(await files.makeDir('folder/inner'), false)
  await assert.rejects(files.makeDir('note'), InvalidArgumentError)
  const moved = await files.rename('note', 'folder/moved')
  assert.equal(moved.path, '/home/user/folder/moved')
  assert.deepEqual((await files.list('folder')).map((one) => one.name).sort(), ['inner', 'moved'])
  assert.equal((await files.list('.', { depth: 3 })).some((one) => one.path === '/home/user/folder/moved'), true)
  const info = await files.getInfo('folder/moved')
  assert.deepEqual([info.size, info.type, info.permissions], [5, FileType.FILE, '-rw-r--r--'])
  assert.equal((await files.getInfo('folder')).type, FileType.DIR)
  await box.commands.run('ln -s folder/moved link; ln -s link again; ln -s folder way; ln -s nowhere dangling')
  for (const name of ['link', 'again']) {
    const link = await files.getInfo(name)
    assert.deepEqual([link.symlinkTarget, link.type], ['/home/user/folder/moved', FileType.FILE])
    assert.equal(link.permissions, 'Lrwxrwxrwx')
  }
  assert.equal(await files.makeDir('way'), false)
  await box.commands.run('chmod 600 folder/moved')
  await files.write('again', 'moved')
  assert.deepEqual([(await files.getInfo('folder/moved')).mode, await files.read('link')], [0o600, 'moved'])
  const types = Object.fromEntries((await files.list('.')).map((one) => [one.name, one.type]))
  assert.deepEqual([types.link, types.way, types.folder], [FileType.FILE, FileType.DIR, FileType.DIR])
  assert.equal((await files.getInfo('dangling')).symlinkTarget, '/home/user/dangling')
  await files.remove('folder')
  assert.equal(await files.exists('folder'), false)
  await files.remove('folder')
  await assert.rejects(files.read('missing'), NotFoundError)
  await assert.rejects(files.getInfo('missing'), NotFoundError)
  await assert.rejects(files.list('missing'), NotFoundError)
  await box.commands.run('mkdir lots; cd lots; seq 10001 | xargs touch')
  await assert.rejects(files.list('lots'), /10000 entries: run `ls` or `find`/)
  await assert.rejects(files.list('.', { depth: 2 }), /10000 entries: list a smaller depth/)
  await assert.rejects(files.read('deep'), InvalidArgumentError)
  await assert.rejects(files.list('deep/data.bin'))
  await assert.rejects(files.read('note', { user: 'root' }))

  const events = []
  const written = []
  const handle = await files.watchDir('deep', (event) => {
    events.push(`${event.type} ${event.name}`)
    if (event.type === FilesystemEventType.WRITE) written.push(event.name)
  }, { recursive: true, timeoutMs: 0 })
  await files.makeDir('deep/er')
  await until(() => events.includes('create er'))
  await files.write('deep/er/new', 'x')
  await until(() => written.includes('er/new') && events.includes('create er/new'))
  const created = events.filter((event) => event.startsWith('create')).length
  await files.write('deep/data.bin', 'over another')
  await until(() => written.includes('data.bin'))
  assert.equal(events.filter((event) => event.startsWith('create')).length, created)
  await files.rename('deep/data.bin', 'deep/other.bin')
  await until(() => events.includes('rename data.bin') && events.includes('create other.bin'))
  await files.remove('deep/other.bin')
  await until(() => events.includes('remove other.bin'))
  await handle.stop()

  // A signed address needs no key, and says nothing of the sandbox.
  const read = await fetch(await box.downloadUrl('many/a'))
  assert.deepEqual([read.status, await read.text()], [200, 'A'])
  const form = new FormData()
  form.append('file', new Blob(['uploaded']), 'whatever')
  const upload = await box.uploadUrl('up', { useSignatureExpiration: 60 })
  const sent = await fetch(upload, { method: 'POST', body: form })
  assert.equal(sent.status, 200)
  assert.equal(await files.read('up'), 'uploaded')
  assert.equal((await fetch(upload)).status, 401)
  assert.equal((await fetch(upload.replace('path=up', 'path=down'), { method: 'POST', body: form })).status, 401)
  const late = await box.downloadUrl('up', { useSignatureExpiration: -5 })
  const refused = await fetch(late)
  assert.deepEqual([refused.status, (await refused.json()).message], [401, 'signature is already expired'])
  assert.equal((await fetch(process.env.E2B_SANDBOX_URL + '/files?path=up')).status, 401)
} finally {
  await box.kill()
}
