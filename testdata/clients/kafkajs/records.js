// The records that a seed stands for and the line that a record is printed as.
// README.md in the folder above is the description.
'use strict'

const crypto = require('crypto')

const sha256 = data => crypto.createHash('sha256').update(data).digest()

const firstTimestamp = 1_600_000_000_000

function generate(seed, count, partitions) {
  return Array.from({ length: count }, (_, i) => {
    const digest = sha256(`${seed}/${i}`)
    return {
      partition: i % partitions,
      timestamp: firstTimestamp + digest.readUInt32BE(0),
      key: key(i, digest),
      value: value(i, seed, digest),
      headers: headers(i),
    }
  })
}

function ofSize(seed, size) {
  const blocks = Array.from({ length: Math.ceil(size / 32) }, (_, i) => sha256(`${seed}/${i}`))
  const value = Buffer.concat(blocks).subarray(0, size)
  return [{ partition: 0, timestamp: firstTimestamp, key: null, value, headers: [] }]
}

function key(i, digest) {
  return [
    () => null,
    () => Buffer.alloc(0),
    () => Buffer.concat([Buffer.from([0x00, 0xff]), digest.subarray(0, 6)]),
    () => Buffer.from(`ключ-${i}-🔑`),
    () => Buffer.from(`key-${i}`),
  ][i % 5]()
}

function value(i, seed, digest) {
  return [
    () => Buffer.from(`value ${i} of seed ${seed}`),
    () => null,
    () => Buffer.alloc(0),
    () => digest,
    () => Buffer.alloc(digest.length * (i % 50 === 24 ? 3125 : 300), digest),
  ][Math.floor(i / 5) % 5]()
}

function headers(i) {
  return [
    [],
    [['trace-id', Buffer.from(`trace ${i}`)]],
    [['a', Buffer.from('1')], ['b', Buffer.from('2')], ['a', Buffer.from('3')]],
    [['empty', Buffer.alloc(0)]],
    [['null', null], ['after', Buffer.from('x')]],
    [['binary', Buffer.from([0xff, 0xfe, 0x80, 0x01, 0x7f])]],
    [['', Buffer.from('no name')], ['имя', Buffer.from('значение')]],
  ][i % 7]
}

function text(data) {
  if (data === null || data === undefined) return 'null'
  return data.length > 64 ? `sha256:${sha256(data).toString('hex')}` : `0x${data.toString('hex')}`
}

function line(r) {
  const pairs = r.headers.map(([name, value]) => `${text(Buffer.from(name))}=${text(value)}`)
  return `record ${r.topic} ${r.partition} ${r.offset} ${r.timestamp} ${text(r.key)} ${text(r.value)} [${pairs}]`
}

module.exports = { generate, ofSize, line }
