// What the published client with the interpreter can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { NotFoundError, Sandbox } from '@e2b/code-interpreter'

const box = await Sandbox.create('base', { timeoutMs: 60_000, metadata: { run: 'b c' } })
try {
  assert.equal((await box.getInfo()).metadata.run, 'b c')
  let heard = ''
  const told = await box.runCode('import sys; print("out"); print("err", file=sys.stderr)', {
    onStdout: (message) => { heard += message.line } })
  assert.deepEqual([told.logs.stdout.join(''), told.logs.stderr.join(''), heard], ['out\n', 'err\n', 'out\n'])
  assert.equal(told.executionCount, 1)
  const failed = await box.runCode('print(1 / 0)')
  assert.equal(failed.error.name, 'ZeroDivisionError')
  const given = await box.runCode('import os; print(os.environ["A"])', { envs: { A: 'b c' } })
  assert.deepEqual(given.logs.stdout, ['b c\n'])

  assert.equal((await box.commands.run('echo out')).stdout, 'out\n')
  await box.files.write('deep/text', 'kept')
  assert.equal(await box.files.read('deep/text'), 'kept')
  await assert.rejects(box.files.read('missing'), NotFoundError)
} finally {
  assert.equal(await box.kill(), true)
}
console.log('the client and the fake agree')
