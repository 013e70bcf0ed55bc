// node placed.js PACKAGE PROVIDER MODEL: load a model with nothing optimized, and let onnxruntime
// log where its nodes are placed.
const ort = require(process.argv[2]);
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'verbose';
ort.env.debug = true;
ort.InferenceSession.create(process.argv[4], {
  executionProviders: [process.argv[3]],
  graphOptimizationLevel: 'disabled',
  logSeverityLevel: 0,
  logVerbosityLevel: 1,
}).then(() => console.log('LOADED'), (error) => console.log('ERROR ' + String(error && error.message)));
