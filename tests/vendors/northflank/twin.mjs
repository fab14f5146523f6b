// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { ApiClient, ApiClientInMemoryContextProvider } from '@northflank/js-client'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const contexts = new ApiClientInMemoryContextProvider()
await contexts.addContext({ name: 'fake', host: process.env.NORTHFLANK_HOST,
  token: process.env.NORTHFLANK_TOKEN })
await contexts.useContext('fake')
const client = new ApiClient(contexts, { throwErrorOnHttpErrorCode: true })

const project = { teamId: 'us', projectId: 'sandboxes' }
const made = await client.create.service.deployment({ parameters: project, data: {
  name: 'sb1', billing: { deploymentPlan: 'nf-compute-20' },
  deployment: { instances: 1, external: { imagePath: 'debian:12' },
    docker: { configType: 'customCommand', customCommand: 'sleep infinity' },
    storage: { ephemeralStorage: { storageSize: 2048 } } },
  runtimeEnvironment: { FROM_CREATE: 'yes' } } })
const service = { ...project, serviceId: made.data.id }
try {
  const started = async () =>
    (await client.get.service({ parameters: service })).data.status.deployment.status
  while (await started() !== 'COMPLETED') await new Promise((done) => setTimeout(done, 20))
  assert.equal((await client.get.service({ parameters: service })).data.servicePaused, false)
  const listed = await client.list.services.all({ parameters: project })
  assert.deepEqual(listed.data.services.map((one) => [one.id, one.name]), [['sb1', 'sb1']])
  const { containers } = (await client.get.service.containers({ parameters: service })).data
  assert.deepEqual(containers.map((one) => one.status), ['TASK_RUNNING'])

  const ran = await client.exec.execServiceCommand(service, {
    shell: 'bash -c', command: 'echo $FROM_CREATE; echo err >&2; exit 7' })
  assert.deepEqual([ran.commandResult.exitCode, ran.stdOut, ran.stdErr], [7, 'yes\n', 'err\n'])

  const echo = await client.exec.execServiceSession(service, {
    shell: 'none', command: ['cat'], tty: false, encoding: 'base64' })
  const parts = []
  echo.stdOut.on('data', (part) => parts.push(part))
  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  echo.stdIn.write(bytes.toString('base64'))
  echo.stdIn.end()
  assert.equal((await echo.waitForCommandResult()).status, 'Success')
  assert.deepEqual(Buffer.concat(parts), bytes)

  const terminal = await client.exec.execServiceSession(service, { shell: 'none',
    command: ['sh', '-c', 'stty size; read line; stty size; exit 4'],
    tty: true, ttyRows: 24, ttyColumns: 80 })
  let screen = ''
  terminal.stdOut.on('data', (part) => { screen += part })
  while (!screen.includes('24 80')) await new Promise((done) => setTimeout(done, 10))
  await terminal.resizeTerminal({ rows: 30, columns: 100 })
  await terminal.sendInputToCurrentCommand('go\n')
  assert.equal((await terminal.waitForCommandResult()).exitCode, 4)
  assert.match(screen, /30 100/)

  await client.fileCopy.uploadServiceFileStream(service, {
    source: bytes, remotePath: './deep/data.bin' })
  const file = await client.fileCopy.downloadServiceFileStream(service, {
    remotePath: './deep/data.bin' })
  const back = []
  for await (const part of file.fileStream) back.push(part)
  assert.equal(await file.completionPromise, true)
  assert.deepEqual(Buffer.concat(back), bytes)

  await client.pause.service({ parameters: service })
  assert.equal((await client.get.service({ parameters: service })).data.servicePaused, true)
  await assert.rejects(client.exec.execServiceCommand(service, { command: ['true'] }))
  await client.resume.service({ parameters: service, data: { instances: 1 } })
  assert.equal((await client.get.service({ parameters: service })).data.servicePaused, false)

  await fault({ match: 'POST .*/services/deployment$', kind: 'status', status: 402, times: 1 })
  await assert.rejects(client.create.service.deployment({ parameters: project, data: {} }),
    (error) => error.status === 402 && error.message === 'switched on')
  await assert.rejects(client.get.service({ parameters: { ...project, serviceId: 'none' } }),
    (error) => error.status === 404)
} finally {
  await client.delete.service({ parameters: service, options: { delete_child_objects: true } })
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
