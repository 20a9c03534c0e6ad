// kafkajs has gzip; the other codecs are plugged in.
'use strict'

const { CompressionCodecs, CompressionTypes } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const lz4 = require('lz4js')
const { ZstdCodec } = require('zstd-codec')

CompressionCodecs[CompressionTypes.Snappy] = snappy

CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => Buffer.from(lz4.compress(encoder.buffer)),
  decompress: async buffer => Buffer.from(lz4.decompress(buffer)),
})

const zstd = new Promise(resolve => ZstdCodec.run(module => resolve(new module.Simple())))

CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from((await zstd).compress(encoder.buffer)),
  decompress: async buffer => Buffer.from((await zstd).decompress(buffer)),
})

module.exports = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}
