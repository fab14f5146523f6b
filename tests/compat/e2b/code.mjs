// The published JavaScript client of the code interpreter, unchanged.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'

const box = await Sandbox.create({ timeoutMs: 120_000 })
try {
  const lines = []
  const first = await box.runCode('x = 20\nprint("a")\nx + 1', { onStdout: (out) => lines.push(out.line) })
  assert.equal(first.text, '21')
  assert.deepEqual(first.logs.stdout.join(''), 'a\n')
  assert.deepEqual(lines.join(''), 'a\n')
  assert.equal((await box.runCode('x')).text, '20')
  const wrong = await box.runCode('undefined_name')
  assert.equal(wrong.error.name, 'NameError')
  assert.match(wrong.error.traceback, /line 1/)
  assert.equal((await box.runCode('let y = 4; y * 2', { language: 'js' })).text, '8')
  assert.equal((await box.runCode('await Promise.resolve(y + 1)', { language: 'js' })).text, '5')
  const shell = await box.runCode('cd /; pwd', { language: 'bash' })
  assert.equal(shell.logs.stdout.join(''), '/\n')
  const context = await box.createCodeContext({ cwd: '/tmp', language: 'python' })
  assert.equal(context.cwd, '/tmp')
  assert.equal((await box.runCode('import os; os.getcwd()', { context })).text, '/tmp')
  assert.ok((await box.listCodeContexts()).some((one) => one.id === context.id))
  await box.restartCodeContext(context)
  assert.equal((await box.runCode('os', { context })).error.name, 'NameError')
  await box.removeCodeContext(context)
  await assert.rejects(box.runCode('1', { context }))
  await assert.rejects(box.runCode('while True: pass', { timeoutMs: 1500 }))
  assert.equal((await box.runCode('x')).text, '20', 'what was interrupted lost no variables')
} finally {
  await box.kill()
}
await assert.rejects(box.runCode('1'), /sandbox/i)
