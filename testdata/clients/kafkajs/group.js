// A member of a group in kafkajs. It has one assignor of its own, which no other
// client knows; its API takes further ones: here "range", the one that all have.
// Commits after every batch.
'use strict'

const { AssignerProtocol: { MemberAssignment, MemberMetadata }, Kafka, logLevel } = require('kafkajs')

// That of kafkajs's own assignor: later ones tell what a member has had so far.
const version = 0

const range = ({ cluster }) => ({
  name: 'range',
  version,
  protocol: ({ topics }) => ({ name: 'range', metadata: MemberMetadata.encode({ version, topics, userData: Buffer.alloc(0) }) }),
  async assign({ members }) {
    const assignments = new Map(members.map(({ memberId }) => [memberId, {}]))
    const subscribed = members.map(m => ({ ...m, topics: MemberMetadata.decode(m.memberMetadata).topics }))
    for (const topic of new Set(subscribed.flatMap(m => m.topics))) {
      const readers = subscribed.filter(m => m.topics.includes(topic)).map(m => m.memberId).sort()
      const partitions = cluster.findTopicPartitionMetadata(topic).map(p => p.partitionId).sort((a, b) => a - b)
      readers.forEach((reader, i) => {
        const share = at => Math.ceil((at * partitions.length) / readers.length)
        assignments.get(reader)[topic] = partitions.slice(share(i), share(i + 1))
      })
    }
    return [...assignments].map(([memberId, assignment]) => ({
      memberId, memberAssignment: MemberAssignment.encode({ version, assignment, userData: Buffer.alloc(0) }),
    }))
  },
})

const sayAssigned = held => console.log(['assigned', ...held.sort()].join(' '))

// What a commit is answered that a rebalance has overtaken.
const overtaken = new Set(['ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS', 'UNKNOWN_MEMBER_ID'])

async function main([bootstrap, groupId, kind, name, ...words]) {
  if (kind !== 'topic') throw new Error(`no ${kind}: this program subscribes to a topic`)
  const settings = Object.fromEntries(words.map(word => word.split('=')).map(([key, value]) => [key, Number(value)]))
  const consumer = new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.ERROR })
    .consumer({ groupId, partitionAssigners: [range], ...settings })
  consumer.on(consumer.events.REBALANCING, () => sayAssigned([]))
  consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) =>
    sayAssigned(Object.entries(memberAssignment).flatMap(([topic, ps]) => ps.map(p => `${topic}/${p}`))))
  consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
    if (!restart) fail(error)
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [name], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatch: ({ batch, isStale }) => (isStale() ? undefined : read(consumer, batch)),
  })
  await new Promise(resolve => process.stdin.on('end', resolve).resume())
  await consumer.disconnect()
}

async function read(consumer, { topic, partition, messages }) {
  for (const { offset, value } of messages) console.log(`record ${topic} ${partition} ${offset} ${value}`)
  const end = BigInt(messages[messages.length - 1].offset) + 1n
  try {
    await consumer.commitOffsets([{ topic, partition, offset: String(end) }])
  } catch (error) {
    if (overtaken.has(error.type)) console.log(`uncommitted ${topic} ${partition} ${end} ${error.type}`)
    throw error // the consumer joins again
  }
  console.log(`committed ${topic} ${partition} ${end}`)
}

function fail(error) {
  console.error(error)
  process.exit(1)
}

main(process.argv.slice(2)).then(() => process.exit(0), fail)
