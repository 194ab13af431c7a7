# Tells the truth of this node, and changes nothing. Writes one line of JSON: each part has a value, or the problem
# that it met.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$answer = [ordered]@{ drainboard = 'probe' }

function Part([string]$name, [scriptblock]$read) {
    try {
        $answer[$name] = @{ value = @(& $read); problem = $null }
    } catch {
        $answer[$name] = @{ value = $null; problem = [string]$_ }
    }
}

# crictl where it is not in the path: beside containerd, or where the scripts of sig-windows put it.
$crictl = @(
    (Get-Command -Name crictl.exe -ErrorAction SilentlyContinue).Source
    'C:\Program Files\containerd\crictl.exe'
    'C:\k\crictl.exe'
) | Where-Object { $_ -and (Test-Path -LiteralPath $_) } | Select-Object -First 1

function Ask-Crictl([string[]]$words) {
    if (-not $crictl) { throw 'crictl.exe is neither in the path, nor beside containerd, nor in C:\k' }
    $text = & $crictl --runtime-endpoint 'npipe:////./pipe/containerd-containerd' @words -o json | Out-String
    if ($LASTEXITCODE -ne 0) { throw ('crictl {0} ended with {1}' -f ($words -join ' '), $LASTEXITCODE) }
    ConvertFrom-Json -InputObject $text
}

Part rebootRequired {
    Test-Path -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired'
}
Part smbMappings {
    Get-SmbGlobalMapping | ForEach-Object {
        @{ remotePath = $_.RemotePath; status = [string]$_.Status; requirePrivacy = $_.RequirePrivacy }
    }
}
Part smbConnections {
    Get-SmbConnection | ForEach-Object {
        @{
            server = $_.ServerName; share = $_.ShareName; openedBy = $_.UserName; dialect = [string]$_.Dialect
            encrypted = $_.Encrypted; signed = $_.Signed
        }
    }
}
Part smbStagings {
    $all = 'C:\var\lib\kubelet\plugins\kubernetes.io\csi\smb.csi.k8s.io\*\globalmount'
    Get-Item -Path $all -ErrorAction SilentlyContinue | ForEach-Object {
        @{ path = $_.FullName; target = $_.Target | Select-Object -First 1 }
    }
}
Part deadSandboxes {
    (Ask-Crictl @('pods', '--state', 'NotReady')).items | Where-Object { $_ } | ForEach-Object {
        @{ id = $_.id; namespace = $_.metadata.namespace; pod = $_.metadata.name }
    }
}
Part hnsNamespaces {
    $lines = & hnsdiag.exe list namespaces
    if ($LASTEXITCODE -ne 0) { throw ('hnsdiag ended with {0}' -f $LASTEXITCODE) }
    @($lines | Select-String -Pattern '^Namespace').Count
}
Part limits {
    (Ask-Crictl @('ps')).containers | Where-Object { $_ } | ForEach-Object {
        $given = (Ask-Crictl @('inspect', $_.id)).info.runtimeSpec.windows.resources
        @{
            namespace = $_.labels.'io.kubernetes.pod.namespace'; pod = $_.labels.'io.kubernetes.pod.name'
            container = $_.metadata.name; cpuMaximum = $given.cpu.maximum; memoryBytes = $given.memory.limit
        }
    }
}
Part images {
    (Ask-Crictl @('images')).images | Where-Object { $_ } | ForEach-Object {
        $variant = (Ask-Crictl @('inspecti', $_.id)).info.imageSpec
        @{ names = @($_.repoTags) + @($_.repoDigests); osVersion = $variant.'os.version'; bytes = [uint64]$_.size }
    }
}

# As bytes: the encoding of a console that is not there does not matter.
$line = [Text.Encoding]::UTF8.GetBytes((ConvertTo-Json -Compress -Depth 6 -InputObject $answer) + [char]10)
$out = [Console]::OpenStandardOutput()
$out.Write($line, 0, $line.Length)
$out.Flush()
