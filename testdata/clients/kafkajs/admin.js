// The admin program of kafkajs. It has AlterConfigs, not the incremental form of it.
'use strict'

const readline = require('readline')
const { Kafka, KafkaJSProtocolError, KafkaJSServerDoesNotSupportApiKey, ConfigResourceTypes, AssignerProtocol, logLevel } = require('kafkajs')

class Refusal extends Error {
  constructor({ code, message }) {
    super(message)
    this.code = code
  }
}

// What the server refused. Its texts are not told by kafkajs, which has its own.
function refusal(error) {
  const found = error.errors?.[0] ?? error.cause ?? error
  if (found instanceof KafkaJSServerDoesNotSupportApiKey) return new Refusal({ code: 35, message: found.message })
  return found instanceof KafkaJSProtocolError ? new Refusal(found) : error
}

const configs = pairs => pairs.map(pair => ({ name: pair.slice(0, pair.indexOf('=')), value: pair.slice(pair.indexOf('=') + 1) }))
const resource = (name, more) => ({ type: ConfigResourceTypes.TOPIC, name, ...more })
const numbers = ids => `[${ids.join(' ')}]`

const steps = {
  async cluster(admin) {
    const { brokers, controller } = await admin.describeCluster()
    return [...brokers.map(b => `broker ${b.nodeId} ${b.host}:${b.port}`).sort(), `controller ${controller}`]
  },
  async topics(admin) {
    return (await admin.listTopics()).sort().map(name => `topic ${name}`)
  },
  async topic(admin, topic) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return topics[0].partitions
      .sort((a, b) => a.partitionId - b.partitionId)
      .map(p => `partition ${p.partitionId} leader ${p.leader} replicas ${numbers(p.replicas)} isr ${numbers(p.isr)}`)
  },
  async create(admin, topic, count, ...pairs) {
    const created = await admin.createTopics({
      topics: [{ topic, numPartitions: Number(count), configEntries: configs(pairs) }],
    })
    if (!created) throw new Refusal({ code: 36, message: 'createTopics gave false: the topic exists' })
  },
  async configs(admin, topic) {
    const { resources } = await admin.describeConfigs({ resources: [resource(topic)], includeSynonyms: false })
    return resources[0].configEntries.map(c => `config ${c.configName}=${c.configValue}`).sort()
  },
  async partitions(admin, topic, count) {
    await admin.createPartitions({ topicPartitions: [{ topic, count: Number(count) }] })
  },
  async replace(admin, topic, ...pairs) {
    await admin.alterConfigs({ resources: [resource(topic, { configEntries: configs(pairs) })] })
  },
  async offsets(admin, topic) {
    const offsets = await admin.fetchTopicOffsets(topic)
    return offsets.sort((a, b) => a.partition - b.partition).map(o => `offsets ${o.partition} ${o.low} ${o.high}`)
  },
  async 'delete-records'(admin, topic, partition, offset) {
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: Number(partition), offset }] })
  },
  async groups(admin) {
    return (await admin.listGroups()).groups.map(g => `group ${g.groupId}`).sort()
  },
  async group(admin, id) {
    const [group] = (await admin.describeGroups([id])).groups
    const members = group.members.map(m => {
      const { assignment } = AssignerProtocol.MemberAssignment.decode(m.memberAssignment)
      const assigned = Object.entries(assignment).flatMap(([topic, partitions]) => partitions.map(p => `${topic}/${p}`))
      return `member ${m.clientId} ${assigned.sort().join(',')}`
    })
    return [`state ${group.state}`, ...members.sort()]
  },
  async delete(admin, topic) {
    await admin.deleteTopics({ topics: [topic] })
  },
}

async function run(admin, name, args) {
  if (!steps[name]) return ['none']
  try {
    return (await steps[name](admin, ...args)) ?? []
  } catch (error) {
    const refused = refusal(error)
    if (!(refused instanceof Refusal)) throw error
    return [`refused ${refused.code} ${JSON.stringify(refused.message)}`]
  }
}

async function main() {
  let admin
  for await (const command of readline.createInterface({ input: process.stdin })) {
    const [, bootstrap, name, ...args] = command.trim().split(/\s+/)
    if (!admin) {
      const kafka = new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.NOTHING })
      // Of itself it tries again for 11 s when a topic does not exist.
      admin = kafka.admin({ retry: { retries: 1 } })
      await admin.connect()
    }
    for (const line of await run(admin, name, args)) console.log(line)
    console.log('ok')
  }
  await admin?.disconnect()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
