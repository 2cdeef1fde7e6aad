function writeLog(line) {
  return line;
}

function rotate() {}

module.exports = writeLog; //! writeLog
