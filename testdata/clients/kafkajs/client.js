// The client program of kafkajs. It holds the headers of a record as an object:
// those of one name stand together. It cannot write a header whose value is null.
// Its consumer always is a member of a group.
'use strict'

const readline = require('readline')
const { parseArgs } = require('util')
const { Kafka, logLevel } = require('kafkajs')
const codecs = require('./codecs')
const { generate, line, ofSize } = require('./records')

const connect = bootstrap => new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.ERROR })

async function produce({ bootstrap, topic, codec, seed, count, size, partitions }) {
  const producer = connect(bootstrap).producer({ createPartitioner: () => ({ message }) => message.partition })
  await producer.connect()
  const records = Number(size)
    ? ofSize(Number(seed), Number(size))
    : generate(Number(seed), Number(count), Number(partitions)).filter(isAccepted)
  let stored
  try {
    stored = await producer.send({
      topic,
      compression: codecs[codec],
      messages: records.map(r => ({ ...r, timestamp: String(r.timestamp), headers: grouped(r.headers) })),
    })
  } catch (error) {
    records.forEach(() => console.log(`refused ${JSON.stringify(error.message)}`))
    return
  } finally {
    await producer.disconnect()
  }
  const next = new Map(stored.map(({ partition, baseOffset }) => [partition, BigInt(baseOffset)]))
  for (const r of records) {
    const offset = next.get(r.partition)
    next.set(r.partition, offset + 1n)
    console.log(line({ ...r, topic, offset, headers: pairs(grouped(r.headers)) }))
  }
}

const isAccepted = r => r.headers.every(([, value]) => value !== null)

function grouped(headers) {
  const object = {}
  for (const [name, value] of headers) {
    object[name] = name in object ? [object[name], value].flat() : value
  }
  return object
}

const pairs = object => Object.entries(object).flatMap(([name, values]) => [values].flat().map(value => [name, value]))

async function consume({ bootstrap, topic, count }) {
  const consumer = connect(bootstrap).consumer({ groupId: `kafkajs-${process.pid}-${Date.now()}` })
  await consumer.connect()
  await consumer.subscribe({ topics: topic.split(','), fromBeginning: true })
  let missing = Number(count)
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
    const eachMessage = async ({ topic, partition, message }) => {
      if (missing-- <= 0) return
      console.log(line({ ...message, topic, partition, headers: pairs(message.headers ?? {}) }))
      if (missing === 0) resolve()
    }
    consumer.run({ eachMessage, autoCommit: false }).catch(reject)
  })
  await consumer.disconnect()
}

async function run(words) {
  const text = value => ({ type: 'string', default: value })
  const { positionals, values } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      bootstrap: text('localhost:9092'),
      topic: text(),
      codec: text('none'),
      seed: text('0'),
      count: text('0'),
      size: text('0'),
      partitions: text('3'),
    },
  })
  const command = { produce, consume }[positionals[0]]
  if (!command) throw new Error('produce or consume')
  await command(values)
}

async function main() {
  if (process.argv.length > 2) return run(process.argv.slice(2))
  for await (const command of readline.createInterface({ input: process.stdin })) {
    await run(command.trim().split(/\s+/))
    console.log('ok')
  }
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
