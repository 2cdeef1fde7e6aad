const log = require('./log'); //! writeLog
const { readQueue, drain: empty } = require('./queue'); //! readQueue; drain
const queue = require('./queue');

log('start'); //! writeLog
readQueue(); //! readQueue
empty(); //! drain
queue.drain(); //! drain
console.log('x');
