// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { Daytona } from '@daytonaio/sdk'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()

const daytona = new Daytona()
const box = await daytona.create({ name: 'sb1', snapshot: 'daytona-small', labels: { run: 'b c' },
  envVars: { FROM_CREATE: 'yes' }, autoStopInterval: 0 })
try {
  assert.equal(box.name, 'sb1')
  assert.equal(box.state, 'started')
  assert.equal((await daytona.get('sb1')).id, box.id)
  await assert.rejects(daytona.create({ name: 'sb1', snapshot: 'daytona-small' }), /exists/)

  const ran = await box.process.executeCommand('echo $FROM_CREATE; exit 7')
  assert.deepEqual([ran.exitCode, ran.result], [7, 'yes\n'])

  await box.process.createSession('s1')
  const quick = await box.process.executeSessionCommand('s1', { command: 'echo out; echo err >&2' })
  assert.deepEqual([quick.exitCode, quick.stdout, quick.stderr], [0, 'out\n', 'err\n'])
  const slow = await box.process.executeSessionCommand('s1', {
    command: 'for i in 1 2 3; do echo $i; sleep 0.05; done; echo bad >&2; exit 3', runAsync: true })
  let out = '', err = ''
  await box.process.getSessionCommandLogs('s1', slow.cmdId, (text) => { out += text },
    (text) => { err += text })
  assert.deepEqual([out, err], ['1\n2\n3\n', 'bad\n'])
  assert.equal((await box.process.getSessionCommand('s1', slow.cmdId)).exitCode, 3)
  await box.process.deleteSession('s1')

  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  await box.fs.uploadFile(bytes, 'deep/data.bin')
  assert.deepEqual(Buffer.from(await box.fs.downloadFile('deep/data.bin')), bytes)
  assert.equal((await box.fs.getFileDetails('deep/data.bin')).size, 256)
  await box.fs.createFolder('folder', '755')
  await box.fs.moveFiles('deep/data.bin', 'folder/moved')
  assert.deepEqual((await box.fs.listFiles('folder')).map((one) => one.name), ['moved'])
  await box.fs.deleteFile('folder/moved')
  assert.deepEqual(await box.fs.listFiles('folder'), [])
  await box.setTtl(60)
  await box.refreshData()
  const left = new Date(box.autoDestroyAt) - Date.now()
  assert.ok(left > 59 * 60_000 && left <= 61 * 60_000, `ends in ${left} ms`)
  await box.stop()
  assert.equal((await daytona.get('sb1')).state, 'stopped')
  await box.start()
  assert.deepEqual((await box.fs.listFiles('folder')), [])
} finally {
  await daytona.delete(box)
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
