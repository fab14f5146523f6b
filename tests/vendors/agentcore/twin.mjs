// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import {
  BedrockAgentCoreClient, GetCodeInterpreterSessionCommand, InvokeCodeInterpreterCommand,
  ListCodeInterpreterSessionsCommand, StartCodeInterpreterSessionCommand,
  StopCodeInterpreterSessionCommand,
} from '@aws-sdk/client-bedrock-agentcore'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const client = new BedrockAgentCoreClient({})
const codeInterpreterIdentifier = 'aws.codeinterpreter.v1'
const start = { codeInterpreterIdentifier, name: 'sb1', sessionTimeoutSeconds: 600,
  clientToken: 'sandgate-0123456789-0123456789-0123456789' }
const made = await client.send(new StartCodeInterpreterSessionCommand(start))
const session = { codeInterpreterIdentifier, sessionId: made.sessionId }
const invoke = async (name, args) => {
  const answer = await client.send(new InvokeCodeInterpreterCommand({
    ...session, name, arguments: args }))
  assert.equal(answer.sessionId, session.sessionId)
  const events = []
  for await (const event of answer.stream) events.push(event)
  assert.equal(events.length, 1)
  return events[0].result
}
try {
  assert.equal((await client.send(new StartCodeInterpreterSessionCommand(start))).sessionId,
    made.sessionId)
  const read = await client.send(new GetCodeInterpreterSessionCommand(session))
  assert.deepEqual([read.name, read.status, read.sessionTimeoutSeconds], ['sb1', 'READY', 600])
  assert.ok(read.createdAt instanceof Date)
  const listed = await client.send(new ListCodeInterpreterSessionsCommand({
    codeInterpreterIdentifier, status: 'READY', maxResults: 100 }))
  assert.deepEqual(listed.items.map((item) => [item.sessionId, item.name]),
    [[made.sessionId, 'sb1']])

  const ran = await invoke('executeCommand', { command: 'echo out; echo err >&2; exit 7' })
  assert.equal(ran.content[0].text, 'out\r\nerr\r\n')
  assert.equal(ran.structuredContent.stdout, 'out\r\nerr\r\n')
  const { taskId } = (await invoke('startCommandExecution', {
    command: 'sleep 0.2; echo done; exit 3' })).structuredContent
  let task
  do task = (await invoke('getTask', { taskId })).structuredContent
  while (['submitted', 'working'].includes(task.taskStatus))
  assert.deepEqual([task.taskStatus, task.exitCode, task.stdout], ['failed', 3, 'done\r\n'])
  assert.equal((await invoke('stopTask', { taskId })).structuredContent.taskStatus, 'canceled')

  await fault({ match: 'PUT .*/sessions/start$', kind: 'status', status: 402, times: 1 })
  await assert.rejects(client.send(new StartCodeInterpreterSessionCommand(start)),
    { name: 'ServiceQuotaExceededException' })
  await assert.rejects(client.send(new GetCodeInterpreterSessionCommand({
    ...session, sessionId: 'none' })), { name: 'ResourceNotFoundException' })
  const other = new BedrockAgentCoreClient({
    credentials: { accessKeyId: 'AKIA0001', secretAccessKey: 'another' } })
  await assert.rejects(other.send(new GetCodeInterpreterSessionCommand(session)),
    { name: 'AccessDeniedException', message: 'the signature does not match' })
} finally {
  await client.send(new StopCodeInterpreterSessionCommand(session))
}
const after = await client.send(new GetCodeInterpreterSessionCommand(session))
assert.equal(after.status, 'TERMINATED')
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
