# Restarts this node, or says why not. Writes one line of JSON.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$answer = [ordered]@{ drainboard = 'reboot'; rebootRequired = $null; restartsInSeconds = $null; problem = $null }
$code = 0
try {
    $key = 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired'
    $answer.rebootRequired = Test-Path -LiteralPath $key
    if ($answer.rebootRequired -or $env:DRAINBOARD_ONLY_IF_REQUIRED -ne 'true') {
        # Late enough that this log is read and the pod removed before.
        $null = & shutdown.exe /r /t $env:DRAINBOARD_DELAY_SECONDS /d p:0:0 /c 'node maintenance'
        $code = $LASTEXITCODE
        if ($code -eq 0) {
            $answer.restartsInSeconds = [int]$env:DRAINBOARD_DELAY_SECONDS
        } elseif ($code -eq 1190) {
            $answer.problem = 'shutdown.exe: a shutdown is scheduled already'
        } else {
            $answer.problem = 'shutdown.exe ended with {0}' -f $code
        }
    }
} catch {
    $answer.problem = [string]$_
    $code = 1
}
# As bytes: the encoding of a console that is not there does not matter.
$line = [Text.Encoding]::UTF8.GetBytes((ConvertTo-Json -Compress -InputObject $answer) + [char]10)
$out = [Console]::OpenStandardOutput()
$out.Write($line, 0, $line.Length)
$out.Flush()
exit $code
